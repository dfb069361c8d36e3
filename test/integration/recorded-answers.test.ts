import t from 'tap'
import { temporaryFolder } from '../support/temporary-folder.js'
import { replayRecordings } from './recorded-answers.js'

t.test('the server answers as the recorded one did, over the embedded engine', (t) =>
  replayRecordings(t, temporaryFolder(t, 'recorded'), []),
)
