import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { KeelsonProcess } from '../support/keelson-process.js'
import { temporaryFolder } from '../support/temporary-folder.js'
import { until } from '../support/until.js'

// Servers whose flags all have the smallest, the largest or no value at once: they start, serve and end. What flags alone can
// tell is in test/main/flags/flag-extremes.test.ts.

const CONFIGMAPS = '/api/v1/namespaces/default/configmaps'
/** The longest duration that Go has. */
const LONGEST = '2562047h47m16.854775807s'
const MOST = '2147483647'

const durations = (names: string, value: string): string[] => names.split(' ').map((name) => `--${name}=${value}`)
const INTERVALS = 'etcd-compaction-interval etcd-db-metric-poll-interval etcd-count-metric-poll-period'
const TIMEOUTS = 'etcd-healthcheck-timeout etcd-readycheck-timeout'
const TIMES = 'slow-request-threshold kubelet-timeout audit-log-batch-max-wait authentication-token-webhook-cache-ttl'
const BATCHES =
  'audit-log-batch-buffer-size audit-log-batch-max-size audit-log-batch-throttle-qps audit-log-batch-throttle-burst'

const SETS: Readonly<Record<string, readonly string[]>> = {
  smallest: [
    ...durations(INTERVALS, '1s'),
    ...durations(TIMES, '1ns'),
    ...durations('lease-reuse-duration-seconds default-not-ready-toleration-seconds', '0'),
    ...durations(BATCHES, '1'),
    ...durations('event-ttl request-timeout', '1s'),
    ...['--cache-memory-limit=1', '--min-request-timeout=1', '--delete-collection-workers=1', '--pool-threads=1'],
    ...['--audit-log-maxsize=1', '--audit-log-maxage=1', '--audit-log-maxbackup=1', '--audit-log-truncate-enabled'],
    ...['--audit-log-truncate-max-event-size=1', '--audit-log-truncate-max-batch-size=1'],
    ...['--service-node-port-range=1-1', '--service-cluster-ip-range=10.0.0.0/28'],
  ],
  largest: [
    ...durations(INTERVALS, LONGEST),
    ...durations(TIMES, LONGEST),
    ...durations(TIMEOUTS, LONGEST),
    ...durations('lease-reuse-duration-seconds default-unreachable-toleration-seconds', MOST),
    ...['--goaway-chance=0.02', '--strict-transport-security-directives=max-age=9999999999999999'],
    ...[
      `--cors-allowed-origins=${Array.from({ length: 500 }, (_, i) => `//h${i}:`).join(',')}`,
      '--feature-gates=AllAlpha=true',
    ],
    ...durations(BATCHES, MOST),
    ...durations('event-ttl request-timeout service-account-max-token-expiration', LONGEST),
    ...[
      '--cache-memory-limit=9007199254740991',
      '--min-request-timeout=1000000000',
      '--delete-collection-workers=1000',
    ],
    ...['--max-requests-inflight=1000000000', '--max-mutating-requests-inflight=1000000000', '--front-ends=3'],
    ...[`--audit-log-maxsize=${MOST}`, `--audit-log-maxage=${MOST}`, `--audit-log-maxbackup=${MOST}`],
    ...[`--audit-log-truncate-max-event-size=${MOST}`, `--audit-log-truncate-max-batch-size=${MOST}`],
    ...['--service-node-port-range=1-65535', '--service-cluster-ip-range=10.0.0.0/12'],
  ],
  none: [
    ...durations(INTERVALS, '0'),
    ...durations(TIMES, '0s'),
    ...[
      '--goaway-chance=0',
      '--feature-gates=',
      '--cors-allowed-origins=',
      '--disabled-metrics=',
      '--emulated-version=',
    ],
    ...['--feature-gates=AllBeta=false', '--lease-reuse-duration-seconds=0'],
    ...['--cache-memory-limit=0', '--watch-cache=false', '--enable-priority-and-fairness=false', '--pool-threads=0'],
    ...['--max-requests-inflight=0', '--max-mutating-requests-inflight=0', '--service-account-max-token-expiration=0'],
    ...['--audit-log-maxsize=0', '--audit-log-maxage=0', '--audit-log-maxbackup=0', '--watch-cache-sizes='],
  ],
}

for (const [name, flags] of Object.entries(SETS))
  t.test(`a server with the ${name} values serves and ends`, async (t) => {
    const folder = temporaryFolder(t, 'extremes')
    const policy = path.join(folder, 'policy.yaml')
    writeFileSync(policy, 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n')
    const audit = [`--audit-policy-file=${policy}`, `--audit-log-path=${path.join(folder, 'audit.log')}`]
    const server = await KeelsonProcess.start([...flags, ...audit])
    t.teardown(() => server.close())
    await until(async () => (await server.request('GET', '/readyz')).status === 200, { what: 'the server to be ready' })
    for (let i = 0; i < 5; i++) {
      const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `c${i}` } }
      t.equal((await server.request('POST', CONFIGMAPS, map)).status, 201)
      t.equal((await server.request('GET', `${CONFIGMAPS}/c${i}`)).status, 200)
    }
    const list = (await server.request('GET', CONFIGMAPS)).json as { items: { metadata: { name: string } }[] }
    t.equal(list.items.filter(({ metadata }) => metadata.name.startsWith('c')).length, 5)
    t.equal((await server.request('DELETE', CONFIGMAPS)).status, 200)
    t.equal(await server.stop(), 0)
  })

t.test('a refusal is one line a mistake, and the exit code is 1', async (t) => {
  const done = spawnSync(
    process.execPath,
    ['bundle/main/index.js', `--bind-address=${'x'.repeat(70_000)}`, '--secure-port=2147483648', '--event-ttl=1week'],
    { encoding: 'utf8' },
  )
  t.equal(done.status, 1)
  t.match(done.stderr.trimEnd().split('\n'), [
    /^keelson: --bind-address: its value has 70000 characters, more than 65536$/,
    /^keelson: --secure-port: "2147483648" is not a number of at most 2147483647$/,
    /^keelson: --event-ttl: "1week" is not a duration/,
    'keelson: see --help for all flags',
  ])
})
