/**
 * Custom resources: how long it takes until the last of many definitions is served and what memory each takes, then objects of
 * one of them. A definition has 20 KB of schema, with 60 objects in it; an object has 12.8 KB and all of them.
 */
import autocannon from 'autocannon'
import { CREATED, definition } from './custom-thing.js'
import type { Row, Scenario } from './results.js'
import { memoryOf, processorSeconds, SETTLE_MS, type Target } from './servers.js'
import { receive, request } from './workload.js'

export const OBJECTS = 3000
/** Ascending: further definitions come beside those that are there. */
export const DEFINITIONS = [300, 2000] as const

const CREATORS = 8
const CONNECTIONS = 16
const LISTS = 3
const COLLECTION = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

export type Measured = Pick<Row, 'value' | 'unit'> & Partial<Row>
type Report = (scenario: Scenario, size: number, measured: Measured) => void

/** Everything, on a server that has nothing else to do. Reports each figure as it comes. */
export async function measureCustom(target: Target, report: Report): Promise<void> {
  await request(target, 'POST', '/api/v1/namespaces', { metadata: { name: 'default' } })
  const empty = await settledMemory(target)
  let there = 0
  for (const count of DEFINITIONS) {
    report('definitions', count, await counted(target, count - there, () => define(target, there, count)))
    there = count
    const now = (await settledMemory(target)) ?? 0
    if (empty !== undefined) report('definitions-memory', count, { value: (now - empty) / count, unit: 'bytes' })
  }
  const before = await settledMemory(target)
  report('custom-create', OBJECTS, await counted(target, OBJECTS, () => createObjects(target)))
  const after = await settledMemory(target)
  if (before !== undefined && after !== undefined)
    report('custom-memory', OBJECTS, { value: after - before, unit: 'bytes' })
  report('custom-list', OBJECTS, await counted(target, LISTS, () => listObjects(target)))
}

/** With the processor time of the whole server for one: what a busy machine does not change. */
async function counted({ process: server }: Target, count: number, work: () => Promise<Measured>): Promise<Measured> {
  const before = processorSeconds(server)
  const measured = await work()
  const after = processorSeconds(server)
  if (before === undefined || after === undefined) return measured
  return { ...measured, processorMicroseconds: ((after - before) / count) * 1e6 }
}

/** The milliseconds until the last of them was served. */
async function define(target: Target, from: number, to: number): Promise<Measured> {
  const started = performance.now()
  let next = from
  const work = async (): Promise<void> => {
    while (next < to) {
      const { body, path } = definition(next++)
      const { status, bytes } = await request(target, 'POST', COLLECTION, body)
      if (status !== 201) throw new Error(`a definition: ${status} ${bytes.toString().slice(0, 300)}`)
      while ((await request(target, 'GET', `${path}?limit=1`)).status !== 200) await pause(2)
    }
  }
  await Promise.all(Array.from({ length: CREATORS }, work))
  return { value: performance.now() - started, unit: 'ms' }
}

async function createObjects(target: Target): Promise<Measured> {
  const { non2xx, errors, duration, latency, requests } = await autocannon({
    url: `${target.url}${definition(0).path}`,
    method: 'POST',
    connections: CONNECTIONS,
    amount: OBJECTS,
    headers: { authorization: `Bearer ${target.token}`, 'content-type': 'application/json' },
    body: CREATED,
    tlsOptions: { rejectUnauthorized: false },
  })
  if (non2xx + errors > 0) throw new Error(`${non2xx + errors} of ${requests.total} objects were not created`)
  return { value: OBJECTS / duration, unit: 'per second', p50Ms: latency.p50, p99Ms: latency.p99 }
}

async function listObjects(target: Target): Promise<Measured> {
  const times: number[] = []
  let answerBytes = 0
  for (let i = 0; i < LISTS; i++) {
    const started = performance.now()
    answerBytes = await receive(target, definition(0).path)
    times.push(performance.now() - started)
  }
  return { value: times.sort((a, b) => a - b)[Math.floor(LISTS / 2)]!, unit: 'ms', answerBytes }
}

const anonymousOf = ({ process: server }: Target): number | undefined =>
  server === undefined ? undefined : memoryOf(server)?.anonymous

async function settledMemory(target: Target): Promise<number | undefined> {
  await pause(SETTLE_MS)
  return anonymousOf(target)
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms))
