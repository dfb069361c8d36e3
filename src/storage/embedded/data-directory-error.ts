/** Thread: owner. Why a data directory cannot be opened. Nothing was written when one of these is thrown. */
export type DataDirectoryErrorCode =
  /** A live process, or this one, has it open. */
  | 'data-dir-locked'
  /** It holds files that are not ours. */
  | 'data-dir-foreign'
  /** It is ours, in a format that this version does not read. */
  | 'data-dir-version'
  /** It is ours and damaged. */
  | 'data-dir-corrupt'
  /** Everybody may write to it, and it is not ours to close. */
  | 'data-dir-open'

export class DataDirectoryError extends Error {
  override readonly name = 'DataDirectoryError'
  readonly code: DataDirectoryErrorCode
  readonly dataDir: string
  /** data-dir-locked: the process that holds it, where known. */
  readonly pid: number | undefined

  constructor(code: DataDirectoryErrorCode, dataDir: string, message: string, options?: { pid?: number }) {
    super(`data directory ${dataDir}: ${message}`)
    this.code = code
    this.dataDir = dataDir
    this.pid = options?.pid
  }
}
