import { spawnSync } from 'node:child_process'
import path from 'node:path'
import type { Test } from 'tap'
import { temporaryFolder } from '../support/temporary-folder.js'

export type FaultAction =
  /** Before the call, in the middle of it, after it. */
  | 'kill'
  | 'torn'
  | 'after'
  /** The call fails with this number. */
  | number

export interface Fault {
  readonly folder: string
  /** At which call that writes, from 1; 0: at none. */
  readonly at: number
  readonly action: FaultAction
  /** How many calls fail. */
  readonly calls?: number
  /** A file that gets every call. */
  readonly trace?: string
}

/** Compiles fault-library.c; gives the reason when that cannot be done here. */
export function compileFaults(t: Test): { readonly library: string } | { readonly skip: string } {
  if (process.platform !== 'linux') return { skip: 'calls are only interposed on Linux' }
  const library = path.join(temporaryFolder(t, 'faults'), 'faults.so')
  const { error, status, stderr } = spawnSync(
    'gcc',
    ['-shared', '-fPIC', '-O1', '-o', library, 'test/crash/fault-library.c', '-ldl', '-lpthread'],
    { encoding: 'utf8' },
  )
  if (error !== undefined) return { skip: `no C compiler: ${error.message}` }
  if (status !== 0) throw new Error(`the fault library does not compile: ${stderr}`)
  return { library }
}

export const faultEnvironment = (library: string, fault: Fault): Record<string, string> => ({
  LD_PRELOAD: library,
  KEELSON_FAULT_FOLDER: fault.folder,
  KEELSON_FAULT_AT: String(fault.at),
  KEELSON_FAULT_DO: String(fault.action),
  KEELSON_FAULT_CALLS: String(fault.calls ?? 1),
  ...(fault.trace === undefined ? {} : { KEELSON_FAULT_TRACE: fault.trace }),
})
