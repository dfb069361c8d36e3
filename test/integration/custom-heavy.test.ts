import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { KeelsonProcess } from '../support/keelson-process.js'
import { until } from '../support/until.js'

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const server = await KeelsonProcess.start()
t.teardown(() => server.close())

const definition = (plural: string, group: string, schema: object = { type: 'object' }, kind = `K${plural}`) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { plural, kind },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
  },
})
const collection = (plural: string, group: string): string => `/apis/${group}/v1/namespaces/default/${plural}`
const statusOf = async (method: string, path: string, body?: unknown): Promise<number> =>
  (await server.request(method, path, body)).status
const served = (plural: string, group: string): Promise<void> =>
  until(async () => (await statusOf('GET', collection(plural, group))) === 200, { what: `${plural}.${group} served` })
/** Looks seldom, and at the metadata alone: definitions with such schemas are large. */
const gone = async (name: string): Promise<void> => {
  const accept = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1'
  while ((await server.request('GET', `${DEFINITIONS}/${name}`, undefined, { accept })).status !== 404) await sleep(200)
}

t.test('objects that a later schema makes large are deleted with their definition, and writes go on', async (t) => {
  const group = 'heavy.example.com'
  const path = `${DEFINITIONS}/heavies.${group}`
  const COUNT = 60
  t.equal(await statusOf('POST', DEFINITIONS, definition('heavies', group)), 201)
  await served('heavies', group)
  let next = 0
  const lane = async (): Promise<void> => {
    while (next < COUNT) {
      const object = { apiVersion: `${group}/v1`, kind: 'Kheavies', metadata: { name: `o${next++}` } }
      t.equal(await statusOf('POST', collection('heavies', group), object), 201)
    }
  }
  await Promise.all(Array.from({ length: 8 }, lane))
  const properties = Object.fromEntries(
    Array.from({ length: 4_000 }, (_, i) => [`f${i}`, { type: 'string', default: 'x' }]),
  )
  const heavy = definition('heavies', group, { type: 'object', properties })
  const { status, text } = await server.request(
    'PATCH',
    path,
    { spec: heavy.spec },
    { 'content-type': 'application/merge-patch+json' },
  )
  t.equal(status, 200, text.slice(0, 200))
  await until(
    async () => (await server.request('GET', `${collection('heavies', group)}/o0`)).text.includes('"f3999"'),
    { what: 'the defaults are in force' },
  )
  t.equal(await statusOf('DELETE', path), 200)
  let isDone = false
  let slowestMs = 0
  const writes = (async () => {
    for (let i = 0; !isDone; i++) {
      const startedMs = performance.now()
      const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `beside-${i}` } }
      t.equal(await statusOf('POST', '/api/v1/namespaces/default/configmaps', body), 201)
      await sleep(10)
      slowestMs = Math.max(slowestMs, performance.now() - startedMs)
    }
  })()
  const begunMs = performance.now()
  await gone(`heavies.${group}`).finally(() => {
    isDone = true
  })
  await writes
  t.comment(`gone in ${Math.round(performance.now() - begunMs)} ms; the slowest write took ${Math.round(slowestMs)} ms`)
})
