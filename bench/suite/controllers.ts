/**
 * What controllers inside do, and what they cost: how long the deletion of a full namespace and of an owner with many dependents
 * takes, and what the thread takes of memory and processor while nothing changes, beside the same server without controllers.
 */
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Row, Scenario } from './results.js'
import { memoryOf, processorSeconds, startKeelson, stop, type Target } from './servers.js'
import { fill, prepare, request } from './workload.js'

const NAMESPACED = 1_000
const OWNED = 10_000
const PODS = 10_000
/** So long nobody asks anything, and the processor time is counted. */
const IDLE_SECONDS = 20
const CONNECTIONS = 32

type Measured = (scenario: Scenario, size: number, figure: Pick<Row, 'value' | 'unit'>) => void

export async function measureControllers(folder: string, flags: readonly string[], onRow: Measured): Promise<void> {
  const start = (name: string, more: readonly string[]) => {
    const own = path.join(folder, name)
    return startKeelson(own, [`--data-dir=${own}/data`, ...more, ...flags])
  }
  const keelson = await start('controllers', [])
  try {
    onRow('namespace-delete', NAMESPACED, { value: await namespaceDeletion(keelson), unit: 'ms' })
    onRow('collect', OWNED, { value: await collection(keelson), unit: 'ms' })
  } finally {
    await stop(keelson.process)
  }
  const kinds = { with: await start('idle', []), without: await start('idle-without', ['--controllers=-*']) }
  try {
    for (const size of [0, PODS]) {
      for (const server of [kinds.with, kinds.without]) await prepareIdling(server, size)
      const [withThem, without] = await Promise.all([idling(kinds.with), idling(kinds.without)])
      onRow('controllers-idle', size, { value: withThem.ms - without.ms, unit: 'ms' })
      onRow('controllers-memory', size, { value: withThem.bytes - without.bytes, unit: 'bytes' })
    }
  } finally {
    await stop(kinds.with.process)
    await stop(kinds.without.process)
  }
}

async function namespaceDeletion(target: Target): Promise<number> {
  await request(target, 'POST', '/api/v1/namespaces', { metadata: { name: 'full' } })
  await many(NAMESPACED, (i) =>
    request(target, 'POST', '/api/v1/namespaces/full/configmaps', { metadata: { name: `c${i}` }, data: { a: 'b' } }),
  )
  const started = performance.now()
  await request(target, 'DELETE', '/api/v1/namespaces/full')
  while ((await request(target, 'GET', '/api/v1/namespaces/full')).status !== 404) await delay(5)
  return performance.now() - started
}

async function collection(target: Target): Promise<number> {
  const maps = '/api/v1/namespaces/default/configmaps'
  const { bytes } = await request(target, 'POST', maps, { metadata: { name: 'owner' } })
  const { metadata } = JSON.parse(bytes.toString()) as { metadata: { uid: string } }
  const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: metadata.uid }]
  const secrets = '/api/v1/namespaces/default/secrets'
  await many(OWNED, (i) => request(target, 'POST', secrets, { metadata: { name: `s${i}`, ownerReferences } }))
  const isEmpty = async (): Promise<boolean> => {
    const page = JSON.parse((await request(target, 'GET', `${secrets}?limit=1`)).bytes.toString()) as {
      items: object[]
    }
    return page.items.length === 0
  }
  const started = performance.now()
  await request(target, 'DELETE', `${maps}/owner`)
  while (!(await isEmpty())) await delay(10)
  return performance.now() - started
}

async function prepareIdling(target: Target, pods: number): Promise<void> {
  if (pods === 0) return
  await prepare(target)
  await fill(target, pods)
}

/** The processor time of a second without requests, and what the process holds after it. */
async function idling(target: Target): Promise<{ readonly ms: number; readonly bytes: number }> {
  // What began with the last request ends before anything is counted.
  await delay(3_000)
  const before = processorSeconds(target.process) ?? 0
  await delay(IDLE_SECONDS * 1000)
  const ms = (((processorSeconds(target.process) ?? 0) - before) / IDLE_SECONDS) * 1000
  return { ms, bytes: target.process === undefined ? 0 : (memoryOf(target.process)?.resident ?? 0) }
}

async function many(count: number, work: (i: number) => Promise<{ readonly status: number }>): Promise<void> {
  let next = 0
  const lane = async (): Promise<void> => {
    while (next < count) {
      const { status } = await work(next++)
      if (status >= 300) throw new Error(`an object was not created: ${status}`)
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, lane))
}
