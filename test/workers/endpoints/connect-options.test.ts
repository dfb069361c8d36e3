import t from 'tap'
import { BuiltinSchemas } from '#keelson/api/builtin-schema.js'
import { connectOptions } from '#keelson/workers/endpoints/connect-options.js'

const schemas = new BuiltinSchemas()
const options = (kind: string, query: string, rest?: string) =>
  connectOptions({ group: '', version: 'v1', kind }, schemas.kind('', 'v1', kind), new URLSearchParams(query), rest)

t.test('the query of a connection becomes options of the types that their kind has', async (t) => {
  t.same(options('PodExecOptions', 'command=ls&command=-l&stdout=true&container=c&other=1'), {
    kind: 'PodExecOptions',
    apiVersion: 'v1',
    command: ['ls', '-l'],
    stdout: true,
    container: 'c',
  })
  t.same(options('PodPortForwardOptions', 'ports=80'), {
    kind: 'PodPortForwardOptions',
    apiVersion: 'v1',
    ports: [80],
  })
})

t.test('the options of a proxy carry the path behind it', async (t) => {
  t.equal(options('PodProxyOptions', '', '/some/path')['path'], '/some/path')
  t.notOk('path' in options('PodProxyOptions', '', ''))
})
