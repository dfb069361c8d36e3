/**
 * Thread: any. How many of the descriptors that the system gives this process its clients may take. Without one left nothing works
 * any more: no file can be read, no connection to etcd or a webhook opened, no thread started.
 */
import { readProc } from './proc-file.js'

/** Kept for the server itself: its files, its storage, webhooks, and connections that it passes on. */
const LEAST_KEPT = 128
const KEPT_PART = 8

/** The limit of the system; undefined where it is not told. */
export function openFilesLimit(): number | undefined {
  const [, soft] = /^Max open files\s+(\d+)/m.exec(readProc('self/limits') ?? '') ?? []
  return soft === undefined ? undefined : Number(soft)
}

/** How many clients one of `listeners` may have connected at a time: an eighth of the limit, or half of a small one, is kept. */
export function clientConnections(limit: number | undefined, listeners: number): number {
  if (limit === undefined) return Number.POSITIVE_INFINITY
  const kept = Math.min(limit / 2, Math.max(LEAST_KEPT, limit / KEPT_PART))
  return Math.max(1, Math.floor((limit - kept) / listeners))
}
