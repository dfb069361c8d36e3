import t from 'tap'
import { WebhookHost, type WebhookObject, type WebhookRequest } from '#keelson/main/webhook-host.js'
import { KeelsonProcess } from '../support/keelson-process.js'
import { until } from '../support/until.js'
import { WatchClient } from '../support/watch-client.js'

/** spec.size of v1 is spec.length of v2; of v3 it is spec.measure. */
const FIELD: Readonly<Record<string, string>> = { v1: 'size', v2: 'length', v3: 'measure' }
const versionOf = (apiVersion: string): string => apiVersion.split('/')[1]!

let calls: WebhookRequest[] = []
let broken = false

function convert(object: WebhookObject, apiVersion: string): WebhookObject {
  const { [FIELD[versionOf(object.apiVersion)]!]: value, ...spec } = object['spec'] as Record<string, unknown>
  const labels = { ...object.metadata.labels, size: String(value) }
  return {
    ...object,
    apiVersion,
    metadata: { ...object.metadata, labels },
    spec: { ...spec, [FIELD[versionOf(apiVersion)]!]: value },
  }
}

const host = new WebhookHost({
  '/convert': (request) => {
    calls.push(request)
    if (broken) throw new Error('out of order')
    return { convertedObjects: request.objects!.map((object) => convert(object, request.desiredAPIVersion!)) }
  },
})
await host.start()
t.teardown(() => host.close())
const server = await KeelsonProcess.start()
t.teardown(() => server.close())

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const pathOf = (version: string, name = ''): string =>
  `/apis/example.com/${version}/namespaces/default/widgets${name === '' ? '' : `/${name}`}`

function versionSpec(name: string, storage: string) {
  const spec = { type: 'object', properties: { [FIELD[name]!]: { type: 'integer' }, color: { type: 'string' } } }
  return {
    name,
    served: true,
    storage: name === storage,
    schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
    subresources: {
      status: {},
      scale: { specReplicasPath: `.spec.${FIELD[name]}`, statusReplicasPath: '.status.ready' },
    },
    selectableFields: [{ jsonPath: `.spec.${FIELD[name]}` }],
    additionalPrinterColumns: [{ name: 'Size', type: 'integer', jsonPath: `.spec.${FIELD[name]}` }],
  }
}

const definition = (storage: string) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget' },
    versions: Object.keys(FIELD).map((name) => versionSpec(name, storage)),
    conversion: {
      strategy: 'Webhook',
      webhook: { conversionReviewVersions: ['v1'], clientConfig: host.clientConfig('/convert') },
    },
  },
})

interface Seen {
  metadata: { name: string; resourceVersion: string; labels?: Record<string, string>; managedFields?: unknown[] }
  apiVersion: string
  spec: Record<string, unknown>
  items: Seen[]
  rows: { cells: unknown[] }[]
  message: string
}

async function ask(
  method: string,
  path: string,
  body?: unknown,
  type?: string,
): Promise<{ status: number; json: Seen }> {
  const { status, text } = await server.request(method, path, body, type === undefined ? {} : { 'content-type': type })
  return { status, json: (text.startsWith('{') ? JSON.parse(text) : { message: text }) as Seen }
}

const widget = (version: string, name: string, value: number) => ({
  apiVersion: `example.com/${version}`,
  kind: 'Widget',
  metadata: { name },
  spec: { [FIELD[version]!]: value },
})

t.before(async () => {
  await server.request('POST', DEFINITIONS, definition('v2'))
  await until(async () => (await ask('GET', pathOf('v3'))).status === 200, { what: 'the definition is served' })
  for (let i = 0; i < 6; i++) await ask('POST', pathOf('v1'), widget('v1', `w${i}`, i % 3))
})

t.test('every version is written and read', async (t) => {
  for (const version of ['v1', 'v2', 'v3']) {
    const { status, json } = await ask('POST', pathOf(version), widget(version, `in-${version}`, 7))
    t.equal(status, 201, JSON.stringify(json))
    for (const other of ['v1', 'v2', 'v3']) {
      const found = await ask('GET', pathOf(other, `in-${version}`))
      t.match(
        found.json,
        { apiVersion: `example.com/${other}`, spec: { [FIELD[other]!]: 7 } },
        `${version} as ${other}`,
      )
    }
    await ask('DELETE', pathOf(version, `in-${version}`))
  }
})

t.test('a list is one review, and none the second time', async (t) => {
  await ask('GET', pathOf('v3'))
  calls = []
  const { json } = await ask('GET', pathOf('v3'))
  t.same(
    json.items.map(({ metadata, spec }) => [metadata.name, spec['measure']]),
    Array.from({ length: 6 }, (_, i) => [`w${i}`, i % 3]),
  )
  t.equal(calls.length, 0, 'what has been converted is kept')
  await ask('PATCH', pathOf('v2', 'w0'), { spec: { color: 'red' } }, 'application/merge-patch+json')
  calls = []
  await ask('GET', pathOf('v3'))
  t.same(
    calls.map(({ objects }) => objects?.map(({ metadata }) => metadata.name)),
    [['w0']],
    'only what has changed is converted',
  )
})

t.test('selectors, pages and Tables are of the version that was asked for', async (t) => {
  const names = async (version: string, query: string) =>
    (await ask('GET', `${pathOf(version)}?${query}`)).json.items?.map(({ metadata }) => metadata.name)
  t.same(await names('v1', 'fieldSelector=spec.size=1'), ['w1', 'w4'])
  t.same(await names('v3', 'fieldSelector=spec.measure=2'), ['w2', 'w5'])
  t.equal((await ask('GET', `${pathOf('v1')}?fieldSelector=spec.measure=2`)).status, 400)
  t.same(await names('v1', 'labelSelector=size=0'), ['w0', 'w3'])
  t.same(await names('v1', 'fieldSelector=metadata.name=w4'), ['w4'])
  const table = await server.request('GET', pathOf('v1'), undefined, {
    accept: 'application/json;as=Table;g=meta.k8s.io;v=v1',
  })
  t.same(
    (table.json as Seen).rows.map(({ cells }) => cells.slice(0, 2)),
    Array.from({ length: 6 }, (_, i) => [`w${i}`, i % 3]),
  )
})

t.test('a watch sees its version, and objects come and go by its fields', async (t) => {
  const { json } = await ask('GET', pathOf('v1'))
  const from = `resourceVersion=${json.metadata.resourceVersion}`
  const all = new WatchClient(server.url, `${pathOf('v1')}?watch=1&${from}`)
  const ones = new WatchClient(server.url, `${pathOf('v1')}?watch=1&${from}&fieldSelector=spec.size=1`)
  t.teardown(() => {
    all.close()
    ones.close()
  })
  const resize = (name: string, length: number) =>
    ask('PATCH', pathOf('v2', name), { spec: { length } }, 'application/merge-patch+json')
  await resize('w1', 5)
  await resize('w0', 1)
  await resize('w2', 9)
  await resize('w1', 1)
  await until(() => all.eventCount >= 4 && ones.eventCount >= 3, { what: 'the watches have seen it' })
  t.same(
    all.events.map(({ type, name }) => `${type} ${name}`),
    ['MODIFIED w1', 'MODIFIED w0', 'MODIFIED w2', 'MODIFIED w1'],
  )
  t.same(
    ones.events.map(({ type, name }) => `${type} ${name}`),
    ['DELETED w1', 'ADDED w0', 'ADDED w1'],
  )
})

t.test('appliers own fields in the version in which they applied', async (t) => {
  const apply = (version: string, manager: string, spec: object, force = '') =>
    ask(
      'PATCH',
      `${pathOf(version, 'applied')}?fieldManager=${manager}${force}`,
      { apiVersion: `example.com/${version}`, kind: 'Widget', metadata: { name: 'applied' }, spec },
      'application/apply-patch+yaml',
    )
  t.equal((await apply('v1', 'one', { size: 1, color: 'red' })).status, 201)
  t.equal((await apply('v3', 'two', { measure: 1 })).status, 200, 'who says the same shares the field')
  t.equal((await apply('v2', 'three', { length: 2 })).status, 409)
  t.equal((await apply('v2', 'three', { length: 2 }, '&force=true')).status, 200)
  const left = await apply('v1', 'one', { color: 'red' })
  t.match(left.json.spec, { size: 2, color: 'red' }, 'what others own stays')
  await ask('DELETE', pathOf('v1', 'applied'))
})

t.test('a webhook that is out of order fails what needs it, and nothing else', async (t) => {
  broken = true
  t.teardown(() => {
    broken = false
  })
  const failed = await ask('POST', pathOf('v1'), widget('v1', 'never', 1))
  t.equal(failed.status, 500)
  t.match(failed.json, { message: /^conversion webhook for example.com\/v1, Kind=Widget failed: out of order/ })
  t.equal((await ask('GET', pathOf('v2', 'never'))).status, 404, 'nothing was stored')
  t.equal((await ask('GET', pathOf('v2'))).status, 200)
  t.equal((await ask('POST', pathOf('v2'), widget('v2', 'there', 1))).status, 201)
  const read = await ask('GET', pathOf('v1', 'there'))
  t.equal(read.status, 500)
  t.notOk('reason' in read.json)
  const merge = 'application/merge-patch+json'
  const needing: [string, string, unknown?, string?][] = [
    ['GET', pathOf('v1')],
    ['GET', `${pathOf('v1')}?labelSelector=a`],
    ['PUT', pathOf('v1', 'there'), widget('v1', 'there', 2)],
    ['PATCH', pathOf('v1', 'there'), { metadata: { annotations: { a: 'b' } } }, merge],
    ['DELETE', pathOf('v1', 'there')],
    ['DELETE', pathOf('v1')],
    ['GET', `${pathOf('v1', 'there')}/status`],
    ['PATCH', `${pathOf('v1', 'there')}/status`, { status: {} }, merge],
    ['GET', `${pathOf('v1', 'there')}/scale`],
    ['PATCH', `${pathOf('v1', 'there')}/scale`, { spec: { replicas: 3 } }, merge],
  ]
  for (const [method, path, body, type] of needing) {
    const { status, json } = await ask(method, path, body, type)
    t.equal(status, 500, `${method} ${path}`)
    t.match(
      json.message,
      /conversion webhook for example.com\/v2, Kind=Widget failed: out of order/,
      `${method} ${path}`,
    )
  }
  t.equal((await ask('GET', `${pathOf('v2', 'there')}/scale`)).status, 200)
  t.equal((await ask('DELETE', pathOf('v2', 'there'))).status, 200)
  const metrics = await server.request('GET', '/metrics')
  t.match(metrics.text, /apiserver_conversion_webhook_request_total\{[^}]*failure_type="conversion_webhook_malformed/)
  t.match(metrics.text, /apiserver_crd_conversion_webhook_duration_seconds_count\{crd_name="widgets.example.com"/)
})

t.test('the storage version moves: what lies in the old one is read in all, until it has been rewritten', async (t) => {
  const current = (await ask('GET', `${DEFINITIONS}/widgets.example.com`)).json
  const moved = await ask('PUT', `${DEFINITIONS}/widgets.example.com`, {
    ...definition('v3'),
    metadata: { name: 'widgets.example.com', resourceVersion: current.metadata.resourceVersion },
  })
  t.equal(moved.status, 200, moved.json.message)
  await until(
    async () => {
      await ask('POST', pathOf('v1'), widget('v1', 'probe', 4))
      const { json } = await ask('GET', `${DEFINITIONS}/widgets.example.com`)
      await ask('DELETE', pathOf('v2', 'probe'))
      return (json as unknown as { status: { storedVersions: string[] } }).status.storedVersions.includes('v3')
    },
    { what: 'objects are stored in v3' },
  )
  for (const version of ['v1', 'v2', 'v3']) {
    const { json } = await ask('GET', pathOf(version))
    t.same([...new Set(json.items.map(({ apiVersion }) => apiVersion))], [`example.com/${version}`], version)
    t.equal(json.items.length, 6, version)
  }
  const sayStored = (storedVersions: string[]) =>
    ask(
      'PATCH',
      `${DEFINITIONS}/widgets.example.com/status`,
      { status: { storedVersions } },
      'application/merge-patch+json',
    )
  t.equal((await sayStored(['v3'])).status, 200, 'somebody says that all is rewritten, and nothing is')
  let looks = 0
  await until(
    async () => {
      const { status, json } = await ask('GET', pathOf('v3'))
      const versions = new Set(json.items?.map(({ apiVersion }) => apiVersion))
      if (status === 200) t.same([...versions], ['example.com/v3'], 'what is shown as v3 is v3')
      return ++looks > 150
    },
    { what: 'the server has been told' },
  )
  await sayStored(['v2', 'v3'])
  const { json: list } = await ask('GET', pathOf('v3'))
  for (const item of list.items) t.equal((await ask('PUT', pathOf('v3', item.metadata.name), item)).status, 200)
  calls = []
  const { status } = await ask(
    'PATCH',
    `${DEFINITIONS}/widgets.example.com/status`,
    { status: { storedVersions: ['v3'] } },
    'application/merge-patch+json',
  )
  t.equal(status, 200)
  await until(
    async () => {
      broken = true
      const { json } = await ask('GET', pathOf('v3', 'w3'))
      broken = false
      return json.apiVersion === 'example.com/v3'
    },
    { what: 'v3 is read without the webhook' },
  )
})
