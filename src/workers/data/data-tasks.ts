/** Thread: data. The tasks of `keelson data …`. */
import path from 'node:path'
import type { DataTask, TellData } from '../../protocol/main-data.js'
import { BackupError } from '../../storage/backup/backup-format.js'
import { verifyBackup } from '../../storage/backup/backup-reader.js'
import { readFormat } from '../../storage/embedded/data-directory.js'
import { LmdbDamage } from '../../storage/embedded/file/lmdb-file.js'
import { openPinned } from '../../storage/embedded/file/pinned-file.js'
import { checkStore, type StoreReport } from '../../storage/embedded/file/store-check.js'
import { DATA_FILE } from '../../storage/embedded/tables.js'
import { backUp } from './backup-task.js'
import { restore } from './restore-task.js'

export function runDataTask(task: DataTask, tell: TellData): Promise<void> {
  switch (task.type) {
    case 'check':
      return checkFolder(task.dataDir, tell)
    case 'check-backup':
      return checkBackup(task.file, tell)
    case 'backup':
      return backUp(task, tell)
    case 'restore':
      return restore(task, tell)
  }
}

async function checkFolder(dataDir: string, tell: TellData): Promise<void> {
  const { version } = readFormat(dataDir)
  let report: StoreReport
  try {
    const pinned = openPinned(path.join(dataDir, DATA_FILE))
    try {
      report = checkStore(pinned.file, {
        onProgress: (done, total) => tell({ type: 'progress', what: 'check', done, total }),
      })
    } finally {
      await pinned.release()
    }
  } catch (error) {
    if (!(error instanceof LmdbDamage)) throw error
    tell({ type: 'problem', problem: `${DATA_FILE} ${error.message}` })
    tell({ type: 'done', sound: false, summary: `${dataDir} is damaged: nothing of it can be read` })
    return
  }
  for (const problem of report.problems) tell({ type: 'problem', problem })
  const untold = report.problemCount - report.problems.length
  if (untold > 0) tell({ type: 'problem', problem: `and ${untold} more` })
  tell({ type: 'done', sound: report.problemCount === 0, summary: summaryOf(dataDir, version, report) })
}

function summaryOf(dataDir: string, version: number, report: StoreReport): string {
  const { state, keys, logEntries, unchecked, fileBytes, problemCount } = report
  const verdict = problemCount === 0 ? 'is sound' : `is damaged (${problemCount} problems)`
  const old = unchecked > 0 ? `; ${unchecked} entries are from before there were checksums` : ''
  return (
    `${dataDir} ${verdict}: ${keys} keys, ${logEntries} entries of the log, revision ${state?.revision ?? 'unknown'}, ` +
    `${(fileBytes / 2 ** 20).toFixed(1)} MiB, format ${version}${old}`
  )
}

async function checkBackup(file: string, tell: TellData): Promise<void> {
  try {
    const { keys, leases, revision, source, createdAt } = verifyBackup(file, (done, total) =>
      tell({ type: 'progress', what: 'check', done, total }),
    )
    tell({
      type: 'done',
      sound: true,
      summary: `${file} is sound: ${keys} keys and ${leases} leases of ${source} at revision ${revision}, ${createdAt}`,
    })
  } catch (error) {
    if (!(error instanceof BackupError)) throw error
    tell({ type: 'problem', problem: `${file} ${error.message}` })
    tell({ type: 'done', sound: false, summary: `${file} cannot be restored` })
  }
}
