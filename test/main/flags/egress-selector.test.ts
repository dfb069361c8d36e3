import { writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { readEgressSelector } from '#keelson/main/flags/egress-selector.js'
import { temporaryFolder } from '../../support/temporary-folder.js'

const folder = temporaryFolder(t, 'egress-selector')
const file = (name: string, text: string): string => {
  const full = path.join(folder, name)
  writeFileSync(full, text)
  return full
}
const pem = file('some.pem', 'PEM')
const read = (selections: unknown, head: object = {}) =>
  readEgressSelector(
    file(
      'egress.yaml',
      JSON.stringify({
        apiVersion: 'apiserver.k8s.io/v1beta1',
        kind: 'EgressSelectorConfiguration',
        egressSelections: selections,
        ...head,
      }),
    ),
  )
const errorsOf = (selections: unknown, head?: object): string => {
  const result = read(selections, head)
  return 'errors' in result ? result.errors.join('\n') : ''
}
const withConnection = (connection: unknown): unknown => [{ name: 'cluster', connection }]
const withTransport = (transport: unknown): unknown => withConnection({ proxyProtocol: 'HTTPConnect', transport })
const withTcp = (tcp: unknown): unknown => withTransport({ tcp })

t.test('no file means direct connections', async (t) => {
  t.strictSame(readEgressSelector(''), { egress: {} })
})

t.test('a file names a proxy for each kind of connections', async (t) => {
  const tlsConfig = { caBundle: pem, clientCert: pem, clientKey: pem }
  const result = read([
    { name: 'etcd', connection: { proxyProtocol: 'HTTPConnect', transport: { uds: { udsName: '/run/p.sock' } } } },
    {
      name: 'Cluster',
      connection: { proxyProtocol: 'HTTPConnect', transport: { tcp: { url: 'https://[::1]:8131', tlsConfig } } },
    },
    { name: 'controlplane', connection: { proxyProtocol: 'Direct' } },
  ])
  t.strictSame(result, {
    egress: {
      etcd: { address: { socketPath: '/run/p.sock' }, tls: undefined },
      cluster: { address: { host: '::1', port: 8131 }, tls: { ca: 'PEM', cert: 'PEM', key: 'PEM' } },
    },
  })
  t.strictSame(read(withTcp({ url: 'http://proxy' })), {
    egress: { cluster: { address: { host: 'proxy', port: 80 }, tls: undefined } },
  })
  t.strictSame(read(null), { egress: {} })
})

t.test('what is wrong with a file is said with its place', async (t) => {
  const tls = { clientCert: pem, clientKey: pem }
  const cases: [string, unknown, RegExp][] = [
    ['a list', 'x', /egressSelections must be a list/],
    ['an object', ['x'], /egressSelections\[0\]: must be an object/],
    ['the name', [{ name: 'nodes', connection: { proxyProtocol: 'Direct' } }], /"nodes" is none of controlplane, cl/],
    [
      'twice',
      [
        { name: 'etcd', connection: { proxyProtocol: 'Direct' } },
        { name: 'ETCD', connection: { proxyProtocol: 'Direct' } },
      ],
      /egressSelections\[1\]: "etcd" is given more than once/,
    ],
    ['no connection', [{ name: 'etcd' }], /\[0\]\.connection: must be an object/],
    ['GRPC', withConnection({ proxyProtocol: 'GRPC', transport: { uds: { udsName: '/x' } } }), /GRPC is not spoken/],
    ['protocol', withConnection({ proxyProtocol: 'SOCKS' }), /"SOCKS" is unknown; it is Direct, HTTPConnect or GRPC/],
    ['direct', withConnection({ proxyProtocol: 'Direct', transport: {} }), /transport: must be absent with Direct/],
    ['no transport', withConnection({ proxyProtocol: 'HTTPConnect' }), /transport: must be set with HTTPConnect/],
    ['neither', withTransport({}), /one of tcp and uds must be set/],
    ['both', withTransport({ tcp: { url: 'http://x' }, uds: { udsName: '/x' } }), /cannot both be set/],
    ['socket', withTransport({ uds: {} }), /uds\.udsName: must be the path/],
    ['long socket', withTransport({ uds: { udsName: `/${'x'.repeat(200)}` } }), /at most 107 bytes/],
    ['scheme', withTcp({ url: 'ftp://x' }), /tcp\.url: "ftp:\/\/x" must begin with/],
    ['url', withTcp({ url: 'http://' }), /is no URL/],
    ['TLS without', withTcp({ url: 'http://x', tlsConfig: tls }), /tlsConfig: must be absent/],
    ['TLS with', withTcp({ url: 'https://x' }), /tlsConfig: must be set/],
    ['certificate', withTcp({ url: 'https://x', tlsConfig: { clientKey: pem } }), /clientCert: is needed for TLS/],
    ['key', withTcp({ url: 'https://x', tlsConfig: { clientCert: pem } }), /clientKey: is needed for TLS/],
    [
      'bundle',
      withTcp({ url: 'https://x', tlsConfig: { ...tls, caBundle: '/no/such' } }),
      /caBundle: there is no file/,
    ],
    ['unknown field', withTcp({ url: 'http://x', proxy: 1 }), /tcp: unknown field "proxy"/],
    ['text', withTcp({ url: 7 }), /url: must be text/],
  ]
  for (const [what, selections, expected] of cases) t.match(errorsOf(selections), expected, what)
  t.match(errorsOf([], { kind: 'Other' }), /apiVersion and kind must be apiserver\.k8s\.io\/v1beta1/)
  t.match(readEgressSelector(path.join(folder, 'none')), { errors: [/there is no file/] })
  t.match(readEgressSelector(file('list.yaml', '[]')), { errors: [/must be an object/] })
  t.match(readEgressSelector(file('bad.yaml', '{')), { errors: [/egress-selector-config-file/] })
})
