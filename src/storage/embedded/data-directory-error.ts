/**
 * Thread: owner. The reasons why a data directory cannot be opened. Nothing was written to it when such an error is
 * thrown.
 */
export type DataDirectoryErrorCode =
  /** A live process, this one included, has the folder open. */
  | 'data-dir-locked'
  /** The folder holds files that are not ours. */
  | 'data-dir-foreign'
  /** The folder is ours, in a format that this version does not read. */
  | 'data-dir-version'
  /** The folder is ours and damaged. */
  | 'data-dir-corrupt'
  /** Everybody may write to the folder, and we may not change that. */
  | 'data-dir-open'
  /** There is no room for what is written when a store is opened. */
  | 'data-dir-full'

export class DataDirectoryError extends Error {
  override readonly name = 'DataDirectoryError'
  readonly code: DataDirectoryErrorCode
  readonly dataDir: string
  /** With data-dir-locked: the process that holds the folder, where it is known. */
  readonly pid: number | undefined

  constructor(code: DataDirectoryErrorCode, dataDir: string, message: string, options?: { pid?: number }) {
    super(`data directory ${dataDir}: ${message}`)
    this.code = code
    this.dataDir = dataDir
    this.pid = options?.pid
  }
}
