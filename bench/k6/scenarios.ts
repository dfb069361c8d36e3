/**
 * The scenarios of `npm run bench` for k6: GET, LIST of 1,000 pods, watch, creation, and a mix as a controller makes it.
 *
 *   k6 run --insecure-skip-tls-verify -e KEELSON_URL=… -e KEELSON_TOKEN=… [-e SCENARIO=get] [-e SECONDS=20] bench/k6/scenarios.ts
 *
 * Without SCENARIO one runs after the other. Objects are in a namespace of their own, which is removed at the end.
 */
import { check } from 'k6'
import exec from 'k6/execution'
import { Counter } from 'k6/metrics'
import type { Options } from 'k6/options'
import { CONFIGMAPS, get, mergePatch, must, NAMESPACE, PODS, post, postAll, remove } from './client.js'
import { configMap, pod } from './objects.js'

const SECONDS = Number(__ENV['SECONDS'] ?? '20')
const POD_COUNT = Number(__ENV['PODS'] ?? '1000')
const WATCHERS = Number(__ENV['WATCHERS'] ?? '100')
const BATCH = 50
/** A watch of k6 is a request that ends: so it is asked for as long as the scenario lasts. */
const WATCH_SECONDS = Math.max(1, SECONDS - 2)

const watchEvents = new Counter('keelson_watch_events')

type Scenarios = NonNullable<Options['scenarios']>
const all: Scenarios = {
  get: { executor: 'constant-vus', vus: 64, duration: `${SECONDS}s`, exec: 'getOne' },
  'get-0': { executor: 'constant-vus', vus: 64, duration: `${SECONDS}s`, exec: 'getOneFromMemory' },
  list: { executor: 'constant-vus', vus: 8, duration: `${SECONDS}s`, exec: 'listAll' },
  create: { executor: 'constant-vus', vus: 32, duration: `${SECONDS}s`, exec: 'create' },
  watch: {
    executor: 'per-vu-iterations',
    vus: WATCHERS,
    iterations: 1,
    maxDuration: `${SECONDS + 30}s`,
    exec: 'watch',
  },
  'watch-writer': {
    executor: 'constant-arrival-rate',
    rate: 20,
    duration: `${SECONDS}s`,
    preAllocatedVUs: 20,
    exec: 'touch',
  },
  mixed: { executor: 'constant-vus', vus: 32, duration: `${SECONDS}s`, exec: 'mixed' },
}
const together = (name: string): string => (name === 'watch-writer' ? 'watch' : name)

/** One after the other, watchers and their writer at the same time. */
function chosen(): Scenarios {
  const only = __ENV['SCENARIO'] ?? ''
  const names = Object.keys(all).filter((name) => only === '' || together(name) === only)
  if (names.length === 0) throw new Error(`SCENARIO=${only}: there are ${Object.keys(all).map(together).join(', ')}`)
  const order = [...new Set(names.map(together))]
  const start = (name: string): string => `${order.indexOf(together(name)) * (SECONDS + 3)}s`
  return Object.fromEntries(names.map((name) => [name, { ...all[name]!, startTime: start(name) }]))
}

export const options: Options = {
  scenarios: chosen(),
  setupTimeout: '300s',
  teardownTimeout: '300s',
  insecureSkipTLSVerify: (__ENV['KEELSON_VERIFY'] ?? '') === '',
  // Bodies that nobody looks at are not kept; watches say that they are.
  discardResponseBodies: false,
  thresholds: {
    checks: ['rate==1'],
    'http_req_failed{scenario:get}': ['rate<0.001'],
    'http_req_failed{scenario:list}': ['rate<0.001'],
    'http_req_failed{scenario:create}': ['rate<0.001'],
  },
}

export function setup(): void {
  must(post('/api/v1/namespaces', { metadata: { name: NAMESPACE } }, 'setup'), 201, 409)
  must(post(`/api/v1/namespaces/${NAMESPACE}/serviceaccounts`, { metadata: { name: 'default' } }, 'setup'), 201, 409)
  must(post(CONFIGMAPS, configMap({ name: 'watched', labels: { watched: 'yes' } }), 'setup'), 201, 409)
  for (let from = 0; from < POD_COUNT; from += BATCH) {
    const pods = Array.from({ length: Math.min(BATCH, POD_COUNT - from) }, (_, i) => pod(`pod-${from + i}`))
    for (const answer of postAll(PODS, pods, 'setup')) must(answer, 201, 409)
  }
}

export function teardown(): void {
  remove(`${PODS}?gracePeriodSeconds=0`, 'teardown')
  remove(CONFIGMAPS, 'teardown')
  remove(`/api/v1/namespaces/${NAMESPACE}`, 'teardown')
}

const ok = (status: number) => ({
  [`status is ${status}`]: (answer: { readonly status: number }) => answer.status === status,
})
const anyPod = (): string => `${PODS}/pod-${Math.floor(Math.random() * POD_COUNT)}`

export function getOne(): void {
  check(get(anyPod(), 'get'), ok(200))
}

export function getOneFromMemory(): void {
  check(get(`${anyPod()}?resourceVersion=0`, 'get-0'), ok(200))
}

export function listAll(): void {
  check(get(PODS, 'list'), ok(200))
}

export function create(): void {
  check(post(CONFIGMAPS, configMap({ generateName: 'load-' }), 'create'), ok(201))
}

export function watch(): void {
  const target = `${CONFIGMAPS}?watch=1&timeoutSeconds=${WATCH_SECONDS}&labelSelector=watched%3Dyes`
  const answer = get(target, 'watch', `${WATCH_SECONDS + 30}s`)
  check(answer, ok(200))
  watchEvents.add(typeof answer.body === 'string' ? answer.body.split('\n').length - 1 : 0)
}

export function touch(): void {
  const data = { n: String(exec.scenario.iterationInTest) }
  check(mergePatch(`${CONFIGMAPS}/watched`, { data }, 'touch'), ok(200))
}

/** As a controller does: mostly reads, some writes of what it owns. */
export function mixed(): void {
  const name = `mixed-${exec.vu.idInTest}-${exec.vu.iterationInScenario}`
  check(post(CONFIGMAPS, configMap({ name, labels: { owner: 'mixed' } }), 'mixed-create'), ok(201))
  for (let i = 0; i < 5; i++) check(get(anyPod(), 'mixed-get'), ok(200))
  check(get(`${PODS}?limit=100&resourceVersion=0`, 'mixed-list'), ok(200))
  check(mergePatch(`${CONFIGMAPS}/${name}`, { data: { touched: 'yes' } }, 'mixed-patch'), ok(200))
  check(remove(`${CONFIGMAPS}/${name}`, 'mixed-delete'), ok(200))
}
