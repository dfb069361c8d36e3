/**
 * Thread: any. The contract between `keelson data …` and the thread that does its work: one task is given with the start, the
 * thread tells how far it is and ends with `done` or `failed`.
 */
import type { TransportConfig } from '../storage/factory/storage-config.js'

/** Where keys are read from or written to: the folder of the embedded engine, or etcd. */
export type DataPlace =
  | { readonly type: 'embedded'; readonly dataDir: string }
  | {
      readonly type: 'etcd'
      readonly transport: TransportConfig
      /** Only keys below it, such as `/registry/`. */
      readonly prefix: string
    }

export type DataTask =
  | { readonly type: 'check'; readonly dataDir: string }
  | { readonly type: 'check-backup'; readonly file: string }
  | {
      readonly type: 'backup'
      readonly source: DataPlace
      readonly file: string
      /** Whether what is damaged is left out instead of ending the backup. */
      readonly skipDamaged: boolean
    }
  | {
      readonly type: 'restore'
      readonly file: string
      readonly target: DataPlace
      /** By how much the embedded store's revision is ahead of the backup's. */
      readonly bumpRevision: number
      /** The format version of the folder. */
      readonly format: number
      /** Whether keys that are in etcd already as the backup has them are let be. */
      readonly resume: boolean
    }

export type DataEvent =
  | { readonly type: 'progress'; readonly what: string; readonly done: number; readonly total: number }
  /** Something that is wrong with the data, in a sentence. */
  | { readonly type: 'problem'; readonly problem: string }
  /** The work is done; `sound` is false when problems were found. `summary` is one line. */
  | { readonly type: 'done'; readonly sound: boolean; readonly summary: string }
  | { readonly type: 'failed'; readonly message: string }

export type TellData = (event: DataEvent) => void
