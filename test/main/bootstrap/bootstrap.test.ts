import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import t from 'tap'
import { nullLogger } from '#keelson/lib/logger.js'
import { Bootstrap, type BootstrapTask } from '#keelson/main/bootstrap/bootstrap.js'
import { combined } from '#keelson/main/bootstrap/bootstrap-authentication-config.js'
import { advertisedAddress, serviceErrors } from '#keelson/main/flags/service-options.js'
import { FakeClock } from '../../support/fake-clock.js'
import { until } from '../../support/until.js'

const open = (clock: FakeClock, ...tasks: BootstrapTask[]) =>
  new Bootstrap({ tasks, clock, random: () => 0, logger: nullLogger })

t.test('tasks wait for those they name and for no others', async (t) => {
  const order: string[] = []
  let release = (): void => undefined
  const gate = new Promise<void>((resolve) => {
    release = resolve
  })
  const note = (name: string) => async () => {
    order.push(name)
  }
  const bootstrap = open(
    new FakeClock(),
    { name: 'slow', run: () => gate.then(note('slow')) },
    { name: 'after', after: ['slow'], run: note('after') },
    { name: 'free', run: note('free') },
  )
  const started = bootstrap.start()
  release()
  await started
  t.same(order, ['free', 'slow', 'after'])
})

t.test('a task that fails is tried again; one that always fails does not keep the server from starting', async (t) => {
  const clock = new FakeClock()
  let tries = 0
  const bootstrap = open(
    clock,
    {
      name: 'late',
      run: async () => {
        if (++tries < 3) throw new Error('not yet')
      },
    },
    { name: 'never', run: () => Promise.reject(new Error('no')) },
  )
  let done = false
  const started = bootstrap.start().then(() => {
    done = true
  })
  const tried = async (): Promise<boolean> => {
    await clock.advance(1000)
    return done
  }
  await until(tried, { what: 'the end of the bootstrap' })
  await started
  t.equal(tries, 3)
})

t.test('a task with an interval runs again until the server goes, and is ended then', async (t) => {
  const clock = new FakeClock()
  const calls: string[] = []
  const bootstrap = open(clock, {
    name: 'loop',
    everyMs: 100,
    run: async () => {
      calls.push('run')
    },
    stop: async () => {
      calls.push('stop')
    },
  })
  await bootstrap.start()
  await clock.advance(250)
  t.same(calls, ['run', 'run', 'run'])
  await bootstrap.close()
  await clock.advance(1000)
  t.same(calls.slice(3), ['stop'])
})

function certificate(days: number): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'keelson-ca-'))
  const file = path.join(folder, 'ca.pem')
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', path.join(folder, 'k')]
  const args = ['req', '-x509', ...key, '-subj', '/CN=ca', '-days', String(days), '-out', file]
  execFileSync('openssl', args, { stdio: 'ignore' })
  return readFileSync(file, 'utf8')
}

t.test('what extension servers must know is added to what other servers wrote; what has expired goes', async (t) => {
  const [own, other] = [certificate(10), certificate(1000)]
  const headers = {
    allowedNames: ['proxy'],
    username: ['X-User'],
    uid: [],
    group: ['X-Group'],
    extraPrefixes: ['X-E-'],
  }
  const now = Date.now()
  t.same(combined({}, { clientCa: '', frontProxy: undefined }, now), {})
  const data = combined({ 'client-ca-file': other }, { clientCa: own, frontProxy: { ca: own, headers } }, now)
  t.equal(data['client-ca-file'], other + own)
  t.match(data, {
    'requestheader-client-ca-file': own,
    'requestheader-username-headers': '["X-User"]',
    'requestheader-allowed-names': '["proxy"]',
  })
  t.notOk('requestheader-uid-headers' in data)
  t.same(
    combined(data, { clientCa: own, frontProxy: { ca: own, headers } }, now),
    data,
    'a second time changes nothing',
  )
  const later = combined(data, { clientCa: '', frontProxy: undefined }, now + 100 * 86_400_000)
  t.same(later, { 'client-ca-file': other })
})

t.test('flags of services say what is wrong with them, all of it', async (t) => {
  const good = {
    clusterIPRanges: ['10.0.0.0/24'],
    nodePortRange: '30000-32767',
    advertiseAddress: '',
    kubernetesServiceNodePort: 0,
    endpointReconcilerType: 'lease',
  }
  t.same(serviceErrors(good), [])
  t.same(serviceErrors({ ...good, clusterIPRanges: ['10.0.0.0/24', 'fd00::/112'] }), [])
  const wrong = serviceErrors({
    clusterIPRanges: ['10.0.0.0/8', '10.0.0.0/31'],
    nodePortRange: '1-x',
    advertiseAddress: 'here',
    kubernetesServiceNodePort: 0,
    endpointReconcilerType: 'master-count',
  })
  t.equal(wrong.length, 6, wrong.join('\n'))
  t.equal(serviceErrors({ ...good, kubernetesServiceNodePort: 80 }).length, 1)
  t.equal(advertisedAddress('192.0.2.1', '127.0.0.1'), '192.0.2.1')
  t.equal(advertisedAddress('', '192.0.2.3'), '192.0.2.3')
  t.not(advertisedAddress('', '127.0.0.1'), '127.0.0.1', 'endpoints may not be on loopback')
})
