import { readFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { WebSocket } from 'ws'
import { AdminClient } from '../support/admin-client.js'
import { ExtensionServer, GROUP, newAuthority, VERSION } from '../support/extension-server.js'
import { KeelsonProcess } from '../support/keelson-process.js'
import { until } from '../support/until.js'

const GROUP_VERSION = `${GROUP}/${VERSION}`
const ROOT = `/apis/${GROUP_VERSION}`
const SERVICE = { name: 'weather', namespace: 'default' }

const server = await KeelsonProcess.start([], undefined, { tls: true })
t.teardown(() => server.close())
const admin = new AdminClient(server)
t.teardown(() => admin.close())
const send = admin.request.bind(admin)
const frontProxyCa = readFileSync(path.join(server.certDir, 'front-proxy-ca.crt'), 'utf8')
const authority = newAuthority()
const hosts = ['weather.default.svc']
let extension = await ExtensionServer.start({ hosts, frontProxyCa }, authority)
t.teardown(() => extension.kill())

interface Condition {
  readonly type: string
  readonly status: string
  readonly reason: string
}

async function available(): Promise<Condition | undefined> {
  const { json } = await send('GET', `/apis/apiregistration.k8s.io/v1/apiservices/${VERSION}.${GROUP}`)
  return (json as { status?: { conditions?: Condition[] } }).status?.conditions?.find(
    ({ type }) => type === 'Available',
  )
}

const register = (): Promise<{ status: number }> =>
  send('POST', '/apis/apiregistration.k8s.io/v1/apiservices', {
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: { name: `${VERSION}.${GROUP}` },
    spec: {
      group: GROUP,
      version: VERSION,
      groupPriorityMinimum: 100,
      versionPriority: 10,
      service: { ...SERVICE, port: extension.port },
      caBundle: Buffer.from(extension.authority).toString('base64'),
    },
  })

const putService = async (): Promise<void> => {
  const spec = { type: 'ExternalName', externalName: 'localhost' }
  const { status } = await send('POST', '/api/v1/namespaces/default/services', {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: SERVICE.name },
    spec,
  })
  t.equal(status, 201)
}

t.test('what this server serves has APIServices of its own', async (t) => {
  const { json } = await send('GET', '/apis/apiregistration.k8s.io/v1/apiservices')
  const { items } = json as {
    items: { metadata: { name: string; labels: Record<string, string> }; status: { conditions: Condition[] } }[]
  }
  const apps = items.find(({ metadata }) => metadata.name === 'v1.apps')
  t.equal(apps?.metadata.labels['kube-aggregator.kubernetes.io/automanaged'], 'onstart')
  t.match(apps?.status.conditions, [{ type: 'Available', status: 'True', reason: 'Local' }])
  t.ok(items.some(({ metadata }) => metadata.name === 'v1.'))
})

t.test('an APIService without its service is 503 and says why', async (t) => {
  t.equal((await register()).status, 201)
  await until(async () => (await available())?.reason === 'ServiceNotFound', { what: 'the condition' })
  const { status, text } = await send('GET', `${ROOT}/namespaces/default/forecasts`)
  t.equal(status, 503)
  t.equal(text, 'service unavailable\n')
})

t.test('with its service it is available, and requests go to it with the user in headers', async (t) => {
  await putService()
  await until(async () => (await available())?.status === 'True', { what: 'the server to be available' })
  const { status, json } = await send('GET', `${ROOT}/namespaces/default/forecasts?labelSelector=a%3Db`, undefined, {
    'X-Remote-User': 'somebody-else',
    'X-Remote-Extra-Scopes': 'all',
    X_Remote_User: 'somebody-else',
    'X-Remote_Extra_scopes': 'all',
    'x-mine': 'kept',
  })
  t.equal(status, 200)
  const { told } = json as { told: { url: string; headers: Record<string, string> } }
  t.equal(told.url, `${ROOT}/namespaces/default/forecasts?labelSelector=a%3Db`)
  t.equal(told.headers['x-remote-user'], 'kubernetes-admin')
  t.match(told.headers['x-remote-group'], /system:masters/)
  t.equal(told.headers['x-remote-extra-scopes'], undefined)
  t.same(
    Object.keys(told.headers).filter((name) => name.includes('_')),
    [],
    'nor by names that some servers read as the same',
  )
  t.equal(told.headers['x-mine'], 'kept')
  t.equal(told.headers['authorization'], undefined)
})

t.test('bodies and methods are passed on', async (t) => {
  const { status, json } = await send('POST', `${ROOT}/namespaces/default/forecasts`, { text: 'x'.repeat(200_000) })
  t.equal(status, 200)
  t.match(json, { told: { method: 'POST', size: 200_011 } })
})

t.test('paths mean there what was authorized here', async (t) => {
  const told = (await send('GET', `${ROOT}/namespaces//default/%2fforecasts`)).json as { told: { url: string } }
  t.equal(told.told.url, `${ROOT}/namespaces/default/forecasts`, 'empty segments are not sent')
  t.equal((await send('GET', `${ROOT}/namespaces/default/forecasts/..%2f..%2fsecrets`)).status, 404)
  t.equal((await send('POST', `${ROOT}/watch/namespaces/default/forecasts`, {})).status, 404)
  t.equal((await send('GET', `${ROOT}/watch/namespaces/default/forecasts/f/talk`)).status, 404)
})

t.test('a watch streams', async (t) => {
  const response = await admin.stream(`${ROOT}/namespaces/default/forecasts?watch=true`)
  const reader = response[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  let text = ''
  while (text.split('\n').length < 4) text += (await reader.next()).value.toString()
  t.match(text, /"name":"f1"[\s\S]*"name":"f2"/)
  await reader.return?.()
})

t.test('a WebSocket is passed on both ways', async (t) => {
  const socket = new WebSocket(
    `${server.url.replace('https', 'wss')}${ROOT}/namespaces/default/forecasts/f/talk`,
    admin.tls,
  )
  const messages: string[] = []
  socket.on('message', (data: Buffer) => {
    messages.push(data.toString())
    if (messages.length === 1) socket.send('hello')
  })
  await until(() => messages.length === 2, { what: 'both messages' })
  t.match(JSON.parse(messages[0]!), { user: 'kubernetes-admin' })
  t.equal(messages[1], 'hello')
  socket.terminate()
})

t.test('discovery has it in both forms, after everything that is built in', async (t) => {
  const groups = async (): Promise<{ name: string }[]> =>
    ((await send('GET', '/apis')).json as { groups: { name: string }[] }).groups
  t.equal((await groups()).at(-1)?.name, GROUP)
  interface Entry {
    readonly freshness: string
    readonly resources?: { readonly resource: string }[]
  }
  const whole = async (): Promise<Entry | undefined> => {
    const { json } = await send('GET', '/apis', undefined, {
      accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
    })
    const { items } = json as { items: { metadata: { name: string }; versions: Entry[] }[] }
    return items.find(({ metadata }) => metadata.name === GROUP)?.versions[0]
  }
  await until(async () => (await whole())?.freshness === 'Current', { what: 'discovery of the extension server' })
  t.match(await whole(), { version: VERSION, resources: [{ resource: 'forecasts' }] })
  t.match((await send('GET', `/apis/${GROUP}`)).json, { kind: 'APIGroup', preferredVersion: { version: VERSION } })
  t.match((await send('GET', ROOT)).json, { kind: 'APIResourceList', groupVersion: GROUP_VERSION })
  const index = (await send('GET', '/openapi/v3')).json as { paths: Record<string, { serverRelativeURL: string }> }
  t.equal(index.paths[`apis/${GROUP_VERSION}`]?.serverRelativeURL, `/openapi/v3/apis/${GROUP_VERSION}?hash=W1`)
  t.match((await send('GET', `/openapi/v3/apis/${GROUP_VERSION}?hash=W1`)).json, { info: { title: 'weather' } })
})

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'
interface Swagger {
  readonly paths: Record<string, unknown>
  readonly definitions: Record<string, { description?: string; properties?: Record<string, unknown> }>
}
const swagger = async (): Promise<Swagger> => (await send('GET', '/openapi/v2')).json as Swagger

t.test('OpenAPI v2 has its paths and definitions, renamed where a name is taken', async (t) => {
  await until(async () => `${ROOT}/forecasts` in (await swagger()).paths, { what: 'its paths' })
  const { paths, definitions } = await swagger()
  t.ok('/api/v1/pods' in paths)
  t.notOk('/elsewhere' in paths)
  t.same(definitions['weather.Forecast']?.properties?.['metadata'], { $ref: `#/definitions/${META}_v2` })
  t.match(definitions[`${META}_v2`]?.description, 'not the one')
  t.notMatch(definitions[META]?.description, 'not the one')
  const protobuf = { accept: 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf' }
  t.match((await send('GET', '/openapi/v2', undefined, protobuf)).text, `${ROOT}/forecasts`)
  const { headers } = await admin.stream('/openapi/v2')
  const again = await admin.stream('/openapi/v2', { headers: { 'if-none-match': headers.etag ?? '' } })
  t.equal(again.statusCode, 304)
})

t.test('its death is 503 and stale discovery, and nothing else notices; it comes back by itself', async (t) => {
  const { port } = extension
  await extension.kill()
  const gone = await send('GET', `${ROOT}/namespaces/default/forecasts`)
  t.equal(gone.status, 503)
  t.equal((await send('GET', '/api/v1/namespaces')).status, 200)
  t.ok(`${ROOT}/forecasts` in (await swagger()).paths, 'its document is kept')
  // The condition is looked at every half minute; writing the APIService anew makes it sooner.
  const annotate = { metadata: { annotations: { looked: 'at' } } }
  await send('PATCH', `/apis/apiregistration.k8s.io/v1/apiservices/${VERSION}.${GROUP}`, annotate, {
    'content-type': 'application/merge-patch+json',
  })
  await until(async () => (await available())?.reason === 'FailedDiscoveryCheck', { what: 'the condition to tell' })
  extension = await ExtensionServer.start({ hosts, frontProxyCa, port }, authority)
  await until(async () => (await available())?.status === 'True', { what: 'the condition to be right again' })
  await until(async () => (await send('GET', `${ROOT}/namespaces/default/forecasts`)).status === 200, {
    what: 'requests to be answered',
  })
})

t.test('whoever may not, may not', async (t) => {
  const nobody = new AdminClient(server, 'anonymous')
  t.teardown(() => nobody.close())
  t.equal((await nobody.request('GET', `${ROOT}/namespaces/default/forecasts`)).status, 403)
})

t.test('without its APIService it is gone', async (t) => {
  t.equal((await send('DELETE', `/apis/apiregistration.k8s.io/v1/apiservices/${VERSION}.${GROUP}`)).status, 200)
  await until(async () => (await send('GET', `${ROOT}/namespaces/default/forecasts`)).status === 404, {
    what: 'the path to be gone',
  })
})
