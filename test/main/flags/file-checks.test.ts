import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { fileProblem, folderProblem, roomProblem } from '#keelson/main/flags/file-checks.js'
import { temporaryFolder } from '../../support/temporary-folder.js'

t.test('a file that is to be read is there and is a file', async (t) => {
  const folder = temporaryFolder(t, 'files')
  const file = path.join(folder, 'a.pem')
  t.match(fileProblem(file), /there is no file/)
  t.match(fileProblem(folder), /is a folder, not a file/)
  writeFileSync(file, '')
  t.equal(fileProblem(file), undefined)
})

t.test('a folder that is to be written to is there or can be made', async (t) => {
  const folder = temporaryFolder(t, 'files')
  t.equal(folderProblem(folder), undefined)
  t.equal(folderProblem(path.join(folder, 'a/b/c')), undefined)
  const file = path.join(folder, 'file')
  writeFileSync(file, '')
  t.match(folderProblem(file), /is a file, not a folder/)
  t.match(folderProblem(path.join(file, 'below')), /cannot be made: .*file is a file/)
})

t.test('only an empty folder is asked for the room of a first start', async (t) => {
  const folder = temporaryFolder(t, 'files')
  mkdirSync(path.join(folder, 'certs'))
  t.equal(roomProblem(folder), undefined)
  t.equal(roomProblem(path.join(folder, 'new')), undefined, 'disks of tests have room')
})
