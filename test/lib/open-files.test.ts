import t from 'tap'
import { clientConnections, openFilesLimit } from '#keelson/lib/open-files.js'
import { readProc } from '#keelson/lib/proc-file.js'

t.test('clients get most descriptors, and never all', async (t) => {
  t.equal(clientConnections(1_048_576, 1), 917_504)
  t.equal(clientConnections(1024, 1), 896)
  t.equal(clientConnections(1024, 4), 224, 'each listener its share')
  t.equal(clientConnections(64, 1), 32)
  t.equal(clientConnections(2, 8), 1)
  t.equal(clientConnections(undefined, 2), Number.POSITIVE_INFINITY)
})

t.test('the limit is that of the system', async (t) => {
  const limit = openFilesLimit()
  t.ok(process.platform === 'linux' ? limit! > 0 : limit === undefined)
  t.equal(readProc('self/no-such-file'), 'absent')
})
