import t from 'tap'
import { withoutPasswords } from '#keelson/main/paths/status-paths.js'

t.test('passwords in addresses are not shown', async (t) => {
  t.equal(withoutPasswords('https://root:secret@10.0.0.1:2379'), 'https://REDACTED@10.0.0.1:2379')
  t.equal(
    withoutPasswords('http://a:b@one:2379,http://two:2379,http://c@three:2379'),
    'http://REDACTED@one:2379,http://two:2379,http://REDACTED@three:2379',
  )
  t.equal(withoutPasswords('/etc/keelson/pki/tls.crt'), '/etc/keelson/pki/tls.crt')
  t.equal(withoutPasswords('https://issuer.example.com/path@2'), 'https://issuer.example.com/path@2')
})
