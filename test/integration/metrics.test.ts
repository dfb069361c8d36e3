import { writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { FAMILIES } from '#keelson/metrics/families.js'
import { Exposition, seriesKey } from '../support/exposition.js'
import { KeelsonProcess } from '../support/keelson-process.js'
import { temporaryFolder } from '../support/temporary-folder.js'
import { until } from '../support/until.js'

const CONFIGMAPS = '/api/v1/namespaces/default/configmaps'
const folder = temporaryFolder(t, 'metrics')
const file = (name: string, text: string): string => {
  writeFileSync(path.join(folder, name), text)
  return path.join(folder, name)
}
const key = Buffer.alloc(32, 7).toString('base64')
const server = await KeelsonProcess.start([
  `--token-auth-file=${file('tokens.csv', 'admin,admin,admin,"system:masters"\nalice,alice@example.org,alice,"dev"\n')}`,
  '--authorization-mode=RBAC',
  '--etcd-count-metric-poll-period=1s',
  '--etcd-db-metric-poll-interval=1s',
  '--etcd-compaction-interval=1s',
  `--encryption-provider-config=${file(
    'encryption.yaml',
    `apiVersion: apiserver.config.k8s.io/v1
kind: EncryptionConfiguration
resources:
- resources: [secrets]
  providers: [{ aesgcm: { keys: [{ name: one, secret: ${key} }] } }, { identity: {} }]
`,
  )}`,
  `--audit-policy-file=${file('policy.yaml', 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{ level: Metadata }]\n')}`,
  `--audit-log-path=${path.join(folder, 'audit.log')}`,
])
t.teardown(() => server.close())

const send = (method: string, target: string, body?: object, token = 'admin', headers: Record<string, string> = {}) =>
  server.request(method, target, body, { authorization: `Bearer ${token}`, ...headers })
const scrape = async (): Promise<Exposition> => {
  const { status, headers, text } = await send('GET', '/metrics')
  t.equal(status, 200)
  t.match(headers.get('content-type'), /^text\/plain; version=0\.0\.4/)
  return new Exposition(text)
}
const configMap = (name: string, data = 'v') => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default' },
  data: { data },
})
/** What came in between two scrapes. */
const between =
  (before: Exposition, after: Exposition) =>
  (name: string, labels: Record<string, string> = {}): number =>
    after.value(name, labels) - before.value(name, labels)

/** What the server writes by itself when it starts is written. */
async function quiet(): Promise<void> {
  let before = -1
  await until(
    async () => {
      const now = await scrape()
      const tasks = now.value('keelson_pool_tasks_total', { type: 'write' })
      const done = now.value('keelson_pool_task_duration_seconds_count', { type: 'write' })
      const still = tasks === before && tasks === done
      before = tasks
      return still
    },
    { what: 'the server to have written what it writes when it starts' },
  )
}

t.test('counts are right after known traffic', async (t) => {
  await quiet()
  const before = await scrape()
  const bodies: number[] = []
  for (const name of ['one', 'two', 'three']) {
    bodies.push(JSON.stringify(configMap(name)).length)
    t.equal((await send('POST', CONFIGMAPS, configMap(name))).status, 201)
  }
  bodies.push(JSON.stringify(configMap('four')).length)
  t.equal((await send('POST', `${CONFIGMAPS}?dryRun=All`, configMap('four'))).status, 201)
  for (let i = 0; i < 5; i++) t.equal((await send('GET', `${CONFIGMAPS}/one`)).status, 200)
  t.equal((await send('GET', `${CONFIGMAPS}/none`)).status, 404)
  const listed = (await send('GET', CONFIGMAPS)).json as { items: object[] }
  await send('GET', CONFIGMAPS)
  await send('GET', `${CONFIGMAPS}?resourceVersion=0`)
  await send('GET', `${CONFIGMAPS}?fieldSelector=metadata.name%3Done`)
  t.equal((await send('PUT', `${CONFIGMAPS}/one`, configMap('one', 'w'))).status, 200)
  const patch = { 'content-type': 'application/merge-patch+json' }
  t.equal((await send('PATCH', `${CONFIGMAPS}/one`, { data: { x: 'y' } }, 'admin', patch)).status, 200)
  const apply = { 'content-type': 'application/apply-patch+yaml' }
  t.equal(
    (await send('PATCH', `${CONFIGMAPS}/two?fieldManager=me&force=true`, configMap('two', 'z'), 'admin', apply)).status,
    200,
  )
  t.equal((await send('DELETE', `${CONFIGMAPS}/three`)).status, 200)
  for (let i = 0; i < 3; i++) t.equal((await send('GET', CONFIGMAPS, undefined, 'alice')).status, 403)
  t.equal((await send('GET', CONFIGMAPS, undefined, 'wrong')).status, 401)
  const came = between(before, await scrape())
  const here = { group: '', version: 'v1', resource: 'configmaps', component: 'apiserver' }
  const total = (verb: string, code: string, more: Record<string, string> = {}): number =>
    came('apiserver_request_total', { ...here, verb, code, ...more })
  t.equal(total('POST', '201', { dry_run: '' }), 3)
  t.equal(total('POST', '201', { dry_run: 'All' }), 1)
  t.equal(total('GET', '200', { scope: 'resource' }), 5)
  t.equal(total('GET', '404'), 1)
  t.equal(total('LIST', '200', { scope: 'namespace' }), 3)
  t.equal(total('LIST', '200', { scope: 'resource' }), 1, 'a selector for a name asks for one')
  t.equal(total('LIST', '403'), 3)
  t.equal(total('LIST', '401'), 1)
  t.equal(total('PUT', '200'), 1)
  t.equal(total('PATCH', '200'), 1)
  t.equal(total('APPLY', '200'), 1)
  t.equal(total('DELETE', '200'), 1)
  for (const name of ['apiserver_request_duration_seconds', 'apiserver_request_sli_duration_seconds'])
    t.equal(came(`${name}_count`, { ...here, verb: 'GET' }), 6, name)
  t.equal(came('apiserver_response_sizes_count', { ...here, verb: 'LIST' }), 8)
  const body = { group: '', resource: 'configmaps', verb: 'create' }
  t.equal(came('apiserver_request_body_size_bytes_count', body), 4)
  t.equal(
    came('apiserver_request_body_size_bytes_sum', body),
    bodies.reduce((sum, size) => sum + size, 0),
  )
  const where = { group: '', resource: 'configmaps' }
  const { length } = listed.items
  t.equal(came('apiserver_cache_list_total', { ...where, index: '' }), 4)
  t.equal(came('apiserver_cache_list_returned_objects_total', where), 3 * length + 1)
  t.ok(came('apiserver_cache_list_fetched_objects_total', where) >= 3 * length + 1)
  t.equal(came('apiserver_watch_cache_consistent_read_total', { ...where, success: 'true', fallback: 'false' }), 3)
  t.equal(came('apiserver_storage_events_received_total', where), 7)
  t.equal(came('apiserver_watch_cache_events_received_total', where), 7)
  t.equal(came('apiserver_watch_cache_events_dispatched_total', where), 7)
  t.equal(came('etcd_requests_total', { ...where, operation: 'create' }), 3)
  t.equal(came('etcd_request_duration_seconds_count', { ...where, operation: 'delete' }), 1)
  t.equal(came('authenticated_user_requests', { username: 'email_id' }), 3)
  t.equal(came('authentication_attempts', { result: 'error' }), 1)
  t.equal(came('authorization_attempts_total', { result: 'no-opinion' }), 3)
  t.equal(came('apiserver_flowcontrol_dispatched_requests_total', { flow_schema: 'global-default' }), 3)
  t.ok(came('keelson_pool_tasks_total', { type: 'write' }) >= 8)
  t.ok(came('apiserver_admission_step_admission_duration_seconds_count', { type: 'admit', operation: 'CREATE' }) >= 4)
  t.ok(came('apiserver_audit_event_total') >= 24)
})

t.test('watches are counted from their first event to their end', async (t) => {
  const where = { group: '', resource: 'configmaps' }
  const before = await scrape()
  const { length } = ((await send('GET', CONFIGMAPS)).json as { items: object[] }).items
  const abort = new AbortController()
  const query = 'watch=true&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan'
  const response = await fetch(`${server.url}${CONFIGMAPS}?${query}`, {
    headers: { authorization: 'Bearer admin' },
    signal: abort.signal,
  })
  const reader = response.body!.getReader()
  let text = ''
  const events = async (count: number): Promise<void> => {
    while (text.split('\n').length <= count) text += Buffer.from((await reader.read()).value!).toString()
  }
  await events(length + 1)
  const open = await scrape()
  t.equal(open.value('keelson_watchers', where), 1)
  t.equal(open.value('apiserver_longrunning_requests', { verb: 'WATCH', resource: 'configmaps' }), 1)
  await send('POST', CONFIGMAPS, configMap('seen'))
  await send('DELETE', `${CONFIGMAPS}/seen`)
  await events(length + 3)
  const after = await scrape()
  const came = between(before, after)
  const version = { ...where, version: 'v1' }
  t.equal(came('apiserver_init_events_total', where), length)
  t.equal(came('apiserver_watch_events_total', version), length + 3)
  t.equal(came('apiserver_watch_events_sizes_count', version), length + 3)
  t.equal(came('apiserver_watch_events_sizes_sum', version), Buffer.byteLength(text))
  t.equal(came('apiserver_watch_list_duration_seconds_count', { ...version, scope: 'namespace' }), 1)
  abort.abort()
  await until(async () => (await scrape()).value('keelson_watchers', where) === 0, { what: 'no watcher to be counted' })
  t.equal((await scrape()).value('apiserver_longrunning_requests', { verb: 'WATCH', resource: 'configmaps' }), 0)
})

t.test('the rest of what a server does is counted too', async (t) => {
  const before = await scrape()
  await send('POST', '/api/v1/namespaces/default/secrets', {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'hidden' },
    stringData: { a: 'b' },
  })
  await send('GET', '/api/v1/namespaces/default/endpoints')
  const protobuf = { accept: 'application/vnd.kubernetes.protobuf' }
  for (let i = 0; i < 3; i++) await send('GET', `${CONFIGMAPS}/one`, undefined, 'admin', protobuf)
  const readyChecks = (await send('GET', '/readyz?verbose')).text.match(/^\[\+\]/gm)!.length
  await send('GET', '/livez/ping')
  const after = await scrape()
  const came = between(before, after)
  const transformed = { resource: 'secrets', transformation_type: 'to_storage', status: 'OK' }
  t.equal(
    came('apiserver_storage_transformation_operations_total', {
      ...transformed,
      transformer_prefix: 'k8s:enc:aesgcm:v1:',
    }),
    1,
  )
  t.equal(after.value('apiserver_requested_deprecated_apis', { resource: 'endpoints', version: 'v1' }), 1)
  t.equal(came('keelson_conversion_cache_total', { result: 'miss' }), 1)
  t.equal(came('keelson_conversion_cache_total', { result: 'hit' }), 2)
  t.ok(after.value('keelson_conversion_cache_bytes') > 0)
  t.equal(came('kubernetes_healthchecks_total', { name: 'ping', type: 'livez', status: 'success' }), 1)
  t.equal(came('kubernetes_healthchecks_total', { type: 'readyz', status: 'success' }), readyChecks)
  t.equal(after.value('kubernetes_healthcheck', { name: 'etcd', type: 'readyz' }), 1)
  t.match(after.samples('kubernetes_build_info'), [{ value: 1, labels: { major: '1', platform: /\// } }])
  const pods = { group: '', resource: 'pods' }
  t.equal(after.samples('keelson_cache_ready', pods)[0]?.value, 1)
  t.ok(after.value('watch_cache_capacity', pods) > 0)
  t.ok(after.value('apiserver_watch_cache_resource_version', pods) > 1)
  for (const thread of ['main', 'owner']) t.equal(after.samples('keelson_event_loop_utilization', { thread }).length, 1)
  const polled = [
    'apiserver_storage_objects',
    'apiserver_storage_size_bytes',
    'keelson_compactions_total',
    'keelson_event_loop_delay_seconds',
  ]
  for (const name of polled)
    await until(async () => (await scrape()).samples(name).length > 0, { what: 'a sample of what is polled' })
})

/** Families without a sample after this traffic: what they count has not happened. */
const QUIET: Readonly<Record<string, string>> = {
  apiserver_authentication_config_controller_automatic_reloads_total: 'no file names issuers',
  apiserver_authentication_config_controller_automatic_reload_last_timestamp_seconds: 'no file names issuers',
  apiserver_authorization_config_controller_automatic_reloads_total: 'no file names authorizers',
  apiserver_authorization_config_controller_automatic_reload_last_timestamp_seconds: 'no file names authorizers',
  apiserver_authorization_webhook_evaluations_total: 'no webhook authorizes',
  apiserver_authorization_webhook_duration_seconds: 'no webhook authorizes',
  apiserver_authorization_webhook_evaluations_fail_open_total: 'no webhook authorizes',
  apiserver_authorization_match_condition_evaluation_errors_total: 'no webhook authorizes',
  apiserver_authorization_match_condition_exclusions_total: 'no webhook authorizes',
  keelson_trace_spans_total: 'nothing is traced',
  leader_election_master_status: 'no controllers run',
  leader_election_slowpath_total: 'no controllers run',
  apiserver_client_certificate_expiration_seconds: 'nobody shows a certificate over plain HTTP',
  apiserver_flowcontrol_request_queue_length_after_enqueue: 'nobody had to wait',
  apiserver_flowcontrol_rejected_requests_total: 'nobody was refused',
  apiserver_flowcontrol_request_dispatch_no_accommodation_total: 'there was room',
  apiserver_request_terminations_total: 'nothing was cut off',
  apiserver_audit_requests_rejected_total: 'the log could be written',
  apiserver_admission_webhook_admission_duration_seconds: 'there is no webhook',
  apiserver_admission_webhook_request_total: 'there is no webhook',
  apiserver_admission_webhook_rejection_count: 'there is no webhook',
  apiserver_admission_webhook_fail_open_count: 'there is no webhook',
  apiserver_admission_match_condition_evaluation_errors_total: 'there is no webhook',
  apiserver_admission_match_condition_exclusions_total: 'there is no webhook',
  apiserver_admission_match_condition_evaluation_seconds: 'there is no webhook',
  apiserver_conversion_webhook_request_total: 'nothing is converted by a webhook',
  apiserver_conversion_webhook_duration_seconds: 'nothing is converted by a webhook',
  apiserver_crd_conversion_webhook_duration_seconds: 'nothing is converted by a webhook',
  apiserver_validating_admission_policy_check_total: 'there is no policy',
  apiserver_validating_admission_policy_check_duration_seconds: 'there is no policy',
  apiserver_mutating_admission_policy_check_total: 'there is no policy',
  apiserver_mutating_admission_policy_check_duration_seconds: 'there is no policy',
  apiserver_storage_decode_errors_total: 'everything could be read',
  apiserver_storage_data_key_generation_duration_seconds: 'there is no key service',
  etcd_request_errors_total: 'nothing failed',
  etcd_lease_object_counts: 'no lease is full',
  rest_client_requests_total: 'nobody else was asked',
  keelson_slow_lists_total: 'every list is read at once',
  keelson_slow_answer_bytes: 'every answer is read at once',
  keelson_pool_threads_replaced_total: 'no thread gets stuck here',
  keelson_slow_list_copies_bytes: 'every list is read at once',
  keelson_fence_wait_seconds: 'on the embedded engine the clock is the truth',
  keelson_cache_fallbacks_total: 'everything is in memory',
  keelson_stale_followers: 'everything is in memory',
  apiserver_storage_list_total: 'everything is in memory',
  apiserver_storage_list_fetched_objects_total: 'everything is in memory',
  apiserver_storage_list_evaluated_objects_total: 'everything is in memory',
  apiserver_storage_list_returned_objects_total: 'everything is in memory',
}

t.test('every metric of the table is there, with its labels', async (t) => {
  const now = await scrape()
  for (const { name, type, labels, help } of FAMILIES) {
    const family = now.families.get(name)
    t.match(family, { type, help }, name)
    const samples = family?.samples ?? []
    t.ok(samples.length > 0 || QUIET[name] !== undefined, `${name} has been counted`)
    const wrong = samples.filter((sample) => {
      const { le: _le, ...own } = sample.labels
      return Object.keys(own).sort().join() !== [...labels].sort().join()
    })
    t.same(wrong, [], `labels of ${name}`)
  }
  for (const name of ['process_cpu_seconds_total', 'process_resident_memory_bytes', 'nodejs_eventloop_lag_seconds'])
    t.equal(now.samples(name).length, 1, name)
})

t.test('counters only grow from scrape to scrape, while others are at work', async (t) => {
  const work = Promise.all(
    Array.from({ length: 200 }, (_, i) => send('GET', `${CONFIGMAPS}/${i % 2 ? 'one' : 'none'}`)),
  )
  let before = await scrape()
  let scrapes = 1
  let over = false
  void work.then(() => {
    over = true
  })
  const started = performance.now()
  do {
    const now = await scrape()
    scrapes++
    for (const { type, samples } of before.families.values()) {
      if (type === 'gauge') continue
      const values = new Map(samples.map(({ name, labels, value }) => [seriesKey(name, labels), value]))
      const name = samples[0]?.name ?? ''
      const back = (
        now.families.get(name.replace(/_(?:bucket|sum|count)$/, '')) ?? now.families.get(name)
      )?.samples.filter((sample) => sample.value < (values.get(seriesKey(sample.name, sample.labels)) ?? 0))
      if (back !== undefined && back.length > 0) t.fail('a counter went back', { back })
    }
    before = now
  } while (!over)
  await work
  t.pass(`${scrapes} scrapes of ${before.families.size} families beside 200 requests`)
  t.comment(`${((performance.now() - started) / scrapes).toFixed(1)} ms a scrape, reading it included`)
})

t.test('names that clients make up become no series', async (t) => {
  const before = await scrape()
  const odd = (i: number): string[] => [
    `/apis/group${i}/v1/things${i}`,
    `/api/v1/things${i}`,
    `/api/v1/namespaces/default/pods/p/part${i}`,
    `/apis/apps/version${i}/deployments?watch=1`,
  ]
  for (let i = 0; i < 20; i++)
    for (const target of odd(i)) {
      t.equal((await send('GET', target, undefined, 'alice')).status, 403)
      t.equal((await send('GET', target, undefined, 'wrong')).status, 401)
    }
  const after = await scrape()
  t.equal(between(before, after)('apiserver_request_total', { group: '', resource: '', code: '403' }), 80)
  const { text } = await send('GET', '/metrics')
  for (const made of ['group7', 'things7', 'part7', 'version7']) t.notMatch(text, made)
})
