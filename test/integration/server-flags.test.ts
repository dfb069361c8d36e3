import { spawn, spawnSync } from 'node:child_process'
import t from 'tap'
import { KeelsonProcess } from '../support/keelson-process.js'
import { until } from '../support/until.js'

// Flags of kube-apiserver whose effect is seen from outside, on a server that has many of them at once.

const CONFIGMAPS = '/api/v1/namespaces/default/configmaps'
const GOOD = 'https://console.good.example'

t.test('pages of allowed origins, and what every answer says', async (t) => {
  const server = await KeelsonProcess.start([
    '--cors-allowed-origins=^https://.*\\.good\\.example$,//localhost(:|$)',
    '--strict-transport-security-directives=max-age=31536000,includeSubDomains',
  ])
  t.teardown(() => server.close())
  const ask = (origin: string, method = 'GET', target = CONFIGMAPS) =>
    server.request(method, target, undefined, origin === '' ? {} : { origin })

  t.test('a browser that asks first is told, without credentials', async (t) => {
    const preflight = await ask(GOOD, 'OPTIONS')
    t.equal(preflight.status, 204)
    t.equal(preflight.text, '')
    t.equal(preflight.headers.get('access-control-allow-origin'), GOOD)
    t.equal(preflight.headers.get('access-control-allow-methods'), 'POST, GET, OPTIONS, PUT, DELETE, PATCH')
    t.match(preflight.headers.get('access-control-allow-headers'), /Content-Type, .*Authorization/)
    t.equal(preflight.headers.get('access-control-expose-headers'), 'Date')
    t.equal(preflight.headers.get('access-control-allow-credentials'), 'true')
  })

  t.test('a refusal is shown to the page too; other origins are told nothing', async (t) => {
    const credentials = { origin: GOOD, authorization: 'Bearer wrong' }
    const refused = await server.request('GET', CONFIGMAPS, undefined, credentials)
    t.equal(refused.status, 401)
    t.equal(refused.headers.get('access-control-allow-origin'), GOOD)
    t.equal((await ask('http://localhost:8080')).headers.get('access-control-allow-origin'), 'http://localhost:8080')
    for (const origin of ['https://good.example.evil.example', 'http://localhost.evil.example', `${GOOD}.evil`, '']) {
      const answer = await ask(origin)
      t.equal(answer.headers.get('access-control-allow-origin'), null, origin)
      t.not((await ask(origin, 'OPTIONS')).status, 204, origin)
    }
  })

  t.test('every answer asks browsers for TLS', async (t) => {
    const wanted = 'max-age=31536000; includeSubDomains'
    for (const target of ['/healthz', CONFIGMAPS, '/nothing'])
      t.equal((await ask('', 'GET', target)).headers.get('strict-transport-security'), wanted, target)
  })
})

t.test('feature gates, metrics and names', async (t) => {
  const server = await KeelsonProcess.start([
    '--external-hostname=api.good.example',
    '--disabled-metrics=apiserver_request_total,process_cpu_user_seconds_total',
    '--feature-gates=WatchList=false,APIResponseCompression=false,ComponentFlagz=false',
    '--admission-control=DefaultTolerationSeconds',
    '--default-not-ready-toleration-seconds=7',
    '--controllers=-*',
  ])
  t.teardown(() => server.close())
  const watch = `${CONFIGMAPS}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=1`
  const refused = await server.request('GET', watch)
  t.equal(refused.status, 422)
  t.match(refused.text, /unless the WatchList feature gate is enabled/)
  t.equal((await server.request('GET', `${CONFIGMAPS}?watch=1&timeoutSeconds=1`)).status, 200)
  t.equal((await server.request('GET', '/flagz')).status, 404)
  t.equal((await server.request('GET', '/statusz')).status, 200)
  const large = await server.request('GET', '/openapi/v2', undefined, { 'accept-encoding': 'gzip' })
  t.equal(large.headers.get('content-encoding'), null)
  const metrics = (await server.request('GET', '/metrics')).text
  t.notMatch(metrics, /^apiserver_request_total/m)
  t.notMatch(metrics, /^process_cpu_user_seconds_total/m)
  t.match(metrics, /^apiserver_current_inflight_requests/m)
  const issuer = (await server.request('GET', '/.well-known/openid-configuration')).json as { jwks_uri: string }
  t.match(issuer.jwks_uri, /^https:\/\/api\.good\.example:\d+\/openid\/v1\/jwks$/)
  const spec = { containers: [{ name: 'c', image: 'i' }] }
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' }, spec }
  const made = await server.request('POST', '/api/v1/namespaces/default/pods', pod)
  t.equal(made.status, 201)
  const { tolerations, priority } = (made.json as { spec: { tolerations: object[]; priority?: number } }).spec
  t.match(tolerations, [{ tolerationSeconds: 7 }, { tolerationSeconds: 300 }])
  t.equal(priority, undefined, 'no other plugin than the one of --admission-control runs')
})

t.test('while it stops, a server that was told so sends clients away with Retry-After', async (t) => {
  const server = await KeelsonProcess.start(['--shutdown-send-retry-after'])
  t.teardown(() => server.close())
  // A request that is under way until its body is complete.
  const { hostname, port } = new URL(server.url)
  const slow = spawn(process.execPath, ['-e', SLOW_WRITE, hostname, port], { stdio: ['pipe', 'pipe', 'inherit'] })
  t.teardown(() => slow.kill('SIGKILL'))
  let answer = ''
  slow.stdout.on('data', (chunk: Buffer) => {
    answer += chunk.toString()
  })
  await until(() => answer.includes('begun'), { what: 'the slow request to begin' })
  const stopped = server.stop()
  let sentAway: string | null = ''
  await until(
    async () => {
      const { status, headers } = await server.request('GET', CONFIGMAPS)
      sentAway = headers.get('retry-after')
      return status === 429
    },
    { what: 'requests to be sent away' },
  )
  t.equal(sentAway, '5')
  t.equal((await server.request('GET', '/livez')).status, 200, 'probes are answered')
  slow.stdin.write('go\n')
  t.equal(await stopped, 0)
  t.match(answer, /HTTP\/1\.1 201/, 'what was under way is finished')
})

const SLOW_WRITE = `
  const socket = require('node:net').connect(Number(process.argv[2]), process.argv[1])
  const body = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'slow' } })
  socket.on('data', (chunk) => process.stdout.write(chunk)).on('close', () => process.exit()).on('error', () => process.exit())
  socket.write('POST ${CONFIGMAPS} HTTP/1.1\\r\\nhost: x\\r\\ncontent-type: application/json\\r\\ncontent-length: ' + body.length + '\\r\\n\\r\\n' + body.slice(0, 5), () => process.stdout.write('begun'))
  process.stdin.once('data', () => socket.write(body.slice(5)))
`

t.test('each flag that does nothing is named with its reason; what would be a lie is refused', async (t) => {
  const run = (...flags: string[]) =>
    spawnSync(process.execPath, ['bundle/main/index.js', ...flags], { encoding: 'utf8' }).stderr
  const lines = run('--logging-format=json', '--feature-gates=CBORServingAndStorage=true', '--bind-address=x').split(
    '\n',
  )
  t.match(lines, [/^keelson: --bind-address: "x" is no IP address$/])
  t.match(run('--tls-curve-preferences=29'), /--tls-curve-preferences is not supported: the curves/)
  t.match(run('--max-connection-bytes-per-sec=5'), /it must be 0/)
  t.match(run('--audit-log-version=audit.k8s.io/v1beta1'), /--audit-log-version must be audit\.k8s\.io\/v1/)
  t.match(run('--admission-control=AlwaysAdmit', '--enable-admission-plugins=AlwaysDeny'), /cannot stand beside/)
  t.match(run('--goaway-chance=0.5'), /--goaway-chance must be between 0 and 0.02, not 0.5/)
})
