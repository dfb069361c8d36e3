import { test } from 'tap'
import { progressIsTrusted } from '#keelson/storage/etcd/server-version.js'

test('progress is trusted from 3.4.25 and 3.5.8 on', async (t) => {
  for (const version of ['3.4.25', '3.4.30', '3.5.8', '3.5.21', '3.6.0', '3.6.0-rc.1', '4.0.0'])
    t.equal(progressIsTrusted(version), true, version)
  for (const version of ['3.3.27', '3.4.0', '3.4.23', '3.4.24', '3.5.0', '3.5.7', '2.3.8', '', 'unknown'])
    t.equal(progressIsTrusted(version), false, version || 'none')
})
