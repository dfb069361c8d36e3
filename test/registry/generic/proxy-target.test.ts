import t from 'tap'
import { isProxyableAddress, portNumber, proxyTarget, workloadPlan } from '#keelson/registry/generic/proxy-target.js'

t.test('a name, with a port, with a scheme', async (t) => {
  t.same(proxyTarget('web', 'pod'), { scheme: 'http', name: 'web', port: '' })
  t.same(proxyTarget('web:80', 'pod'), { scheme: 'http', name: 'web', port: '80' })
  t.same(proxyTarget('https:web:name', 'pod'), { scheme: 'https', name: 'web', port: 'name' })
  t.same(proxyTarget('https:web:', 'pod'), { scheme: 'https', name: 'web', port: '' })
  for (const id of ['', ':80', 'ftp:web:80', 'a:b:c:d', 'http::80'])
    t.throws(() => proxyTarget(id, 'pod'), { code: 400 }, id)
})

t.test('a port is a number up to 65535', async (t) => {
  t.equal(portNumber('0'), 0)
  t.equal(portNumber('65535'), 65535)
  for (const text of ['', '65536', '-1', '1.5', '0x50', 'http', '9'.repeat(400)])
    t.throws(() => portNumber(text), { code: 503 }, text)
})

t.test('what runs in a pod is not authenticated', async (t) => {
  t.match(workloadPlan('http', '192.0.2.1', 80), {
    kind: 'proxy',
    trust: 'workload',
    host: '192.0.2.1',
    port: 80,
    path: '',
  })
})

t.test('addresses that are the server itself, or nobody, are not passed on to', async (t) => {
  for (const address of ['192.0.2.1', '10.0.0.1', '2001:db8::1', 'fd00::1'])
    t.equal(isProxyableAddress(address), true, address)
  for (const address of [
    '127.0.0.1',
    '127.9.9.9',
    '169.254.169.254',
    '0.0.0.0',
    '255.255.255.255',
    '224.0.0.1',
    '::1',
    '::',
    'fe80::1',
    'ff02::1',
    '::ffff:127.0.0.1',
    'localhost',
    '',
    '127.1',
  ])
    t.equal(isProxyableAddress(address), false, address)
})
