/** What /readyz, /livez, /metrics and requests say while storage is in trouble, and which alerts follow from it. */
import { readFileSync } from 'node:fs'
import { load } from 'js-yaml'
import t, { type Test } from 'tap'
import { EtcdServer, skipWithoutEtcd } from '../support/etcd-server.js'
import { Exposition } from '../support/exposition.js'
import { KeelsonProcess } from '../support/keelson-process.js'
import { fires, type Scrape } from '../support/promql-evaluator.js'
import { until } from '../support/until.js'
import { Link } from './rig/link.js'

interface Rule {
  readonly alert: string
  readonly expr: string
  readonly for: string
}

const RULES = (
  load(readFileSync('k8s/components/monitoring/prometheusrule.yaml', 'utf8')) as {
    spec: { groups: readonly { rules: readonly Rule[] }[] }
  }
).spec.groups.flatMap(({ rules }) => rules)

const PATH = '/api/v1/namespaces/default/configmaps'

class Subject {
  readonly server: KeelsonProcess
  readonly link: Link

  constructor(server: KeelsonProcess, link: Link) {
    this.server = server
    this.link = link
  }

  static async start(t: Test): Promise<{ subject: Subject; etcd: EtcdServer }> {
    const etcd = await EtcdServer.start()
    t.teardown(() => etcd.stop())
    const link = await Link.open(etcd.port)
    t.teardown(() => link.close())
    // Requests are given up soon, so that the test need not wait for the usual minute; the checks of storage are given up well before
    // the requests that ask for them, or those would be answered first, with 504 instead of the name of the check.
    const flags = [
      `--etcd-servers=${link.url}`,
      '--authorization-mode=AlwaysAllow',
      '--request-timeout=4s',
      '--etcd-healthcheck-timeout=500ms',
      '--etcd-readycheck-timeout=500ms',
    ]
    const server = await KeelsonProcess.start(flags)
    t.teardown(() => server.close())
    await until(async () => (await server.request('GET', '/readyz')).status === 200, { what: 'the server to be ready' })
    return { subject: new Subject(server, link), etcd }
  }

  async status(target: string): Promise<number> {
    return (await this.server.request('GET', target)).status
  }

  async create(name: string): Promise<number> {
    return (await this.server.request('POST', PATH, { metadata: { name } })).status
  }

  /** As Prometheus would have it: with the labels of its target, and whether it could be scraped. */
  async scrape(atSeconds: number): Promise<Scrape> {
    // A machine that is busy enough makes even this take longer than requests may.
    let text = ''
    const isScraped = async (): Promise<boolean> => {
      const answer = await this.server.request('GET', '/metrics')
      text = answer.text
      return answer.status === 200
    }
    await until(isScraped, { what: '/metrics' })
    const target = { job: 'keelson', instance: 'a' }
    const families = [...new Exposition(text).families.values()]
    const samples = families.flatMap((family) =>
      family.samples.map((sample) => ({ ...sample, labels: { ...sample.labels, ...target } })),
    )
    return { atSeconds, samples: [...samples, { name: 'up', labels: target, value: 1 }] }
  }
}

/** Two scrapes lie in every window of five minutes; the clock of the recording is not that of the machine. */
const APART_SECONDS = 150

const failedCalls = ({ samples }: Scrape): number =>
  samples.reduce((sum, { name, value }) => sum + (name === 'etcd_request_errors_total' ? value : 0), 0)

/**
 * Scrapes, and between two of them what clients and probes do. A call to storage may fail long after its request was given up: in trouble
 * the next scrape is taken once one more has failed, as one has between the scrapes of a Prometheus.
 */
async function record(subject: Subject, count: number, from: number, isTrouble = false): Promise<Scrape[]> {
  const scrapes: Scrape[] = []
  let failed = isTrouble ? failedCalls(await subject.scrape(0)) : 0
  for (let i = from; i < from + count; i++) {
    const scraped = async (): Promise<Scrape> => {
      await Promise.all([subject.create(`made-${i}`), subject.status('/readyz')])
      return subject.scrape(i * APART_SECONDS)
    }
    let scrape = await scraped()
    while (isTrouble && failedCalls(scrape) <= failed) scrape = await scraped()
    failed = failedCalls(scrape)
    scrapes.push(scrape)
  }
  return scrapes
}

const firing = (scrapes: readonly Scrape[]): string[] =>
  RULES.filter(({ expr, for: forText }) => fires(expr, forText, scrapes)).map(({ alert }) => alert)

t.test('storage that does not answer', { skip: skipWithoutEtcd }, async (t) => {
  const { subject } = await Subject.start(t)
  const quiet = await record(subject, 3, 0)
  t.same(firing(quiet), [], 'no alert while all is well')
  t.equal(await subject.status(`${PATH}/made-0`), 200)

  subject.link.hold()
  await until(async () => (await subject.status('/readyz')) === 500, { what: '/readyz to say so' })
  t.match((await subject.server.request('GET', '/readyz')).text, '[-]etcd failed', 'the check is named')
  t.equal(await subject.status('/readyz/etcd'), 500)
  t.equal(await subject.status('/livez'), 500, 'as kube-apiserver: liveness asks for storage too')
  t.equal(await subject.status('/livez?exclude=etcd'), 200, 'what our probes ask for: the process is not started again')
  t.equal(
    await subject.status(`${PATH}/made-0?resourceVersion=0`),
    200,
    'memory answers who does not ask for the newest',
  )
  t.ok((await subject.status(`${PATH}/made-0`)) >= 500, 'nobody is given something old for new')
  t.ok((await subject.create('in-trouble')) >= 500)
  const trouble = await record(subject, 6, 3, true)
  const last = trouble
    .at(-1)!
    .samples.filter(({ name, labels }) => name === 'kubernetes_healthcheck' && labels['type'] === 'readyz')
  t.match(
    last.find(({ labels }) => labels['name'] === 'etcd'),
    { value: 0 },
  )
  const alerts = firing([...quiet, ...trouble])
  for (const alert of ['KeelsonNotReady', 'KeelsonErrors', 'KeelsonStorageUnreachable'])
    t.ok(alerts.includes(alert), `${alert} is among ${alerts.join(', ')}`)

  const silent = [0, 1, 2, 3].map((i) => ({ ...trouble.at(-1)!, atSeconds: i * APART_SECONDS }))
  t.ok(
    firing(silent).includes('KeelsonStorageUnreachable'),
    'also of a server that calls storage for nobody but its probes',
  )

  subject.link.heal()
  await until(async () => (await subject.status('/readyz')) === 200, { what: '/readyz to be well again' })
  await until(async () => (await subject.create('after')) === 201, { what: 'a write' })
  t.notOk(firing([...quiet, ...(await record(subject, 3, 9))]).includes('KeelsonNotReady'))
})

t.test('storage that is full', { skip: skipWithoutEtcd }, async (t) => {
  const { subject, etcd } = await Subject.start(t)
  t.equal(await subject.create('before'), 201)
  const alarm = (action: string) =>
    fetch(`${etcd.endpoint}/v3/maintenance/alarm`, {
      method: 'POST',
      body: JSON.stringify({ action, alarm: 'NOSPACE' }),
    })
  t.equal((await alarm('ACTIVATE')).status, 200)
  await until(async () => (await subject.create('full')) >= 500, { what: 'a write to be refused' })
  t.equal(await subject.status('/readyz'), 200, 'reads are served, so it stays in service')
  t.equal(await subject.status(`${PATH}/before`), 200)
  t.equal((await subject.server.request('DELETE', `${PATH}/before`)).status, 200, 'what makes room is let through')
  t.equal((await alarm('DEACTIVATE')).status, 200)
  await until(async () => (await subject.create('room')) === 201, { what: 'a write to be taken' })
})

t.test('a server that is gone', async (t) => {
  const gone = Array.from({ length: 5 }, (_, i) => ({
    atSeconds: i * 60,
    samples: [{ name: 'up', labels: { job: 'keelson', instance: 'a' }, value: 0 }],
  }))
  t.same(firing(gone), ['KeelsonDown'])
})
