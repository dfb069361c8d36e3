import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { request } from 'node:https'
import path from 'node:path'
import { load, loadAll } from 'js-yaml'
import t, { type Test } from 'tap'
import { complete } from '#keelson/main/flags/config.js'
import { parseFlags } from '#keelson/main/flags/flags.js'
import { FLAGS } from '#keelson/main/flags/options.js'
import { FAMILIES } from '#keelson/metrics/families.js'
import { KeelsonProcess } from '../support/keelson-process.js'
import { Kubectl, skipWithoutKubectl } from '../support/kubectl.js'
import { parsePromQl } from '../support/promql.js'
import { temporaryFolder } from '../support/temporary-folder.js'

interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly resourceVersion?: string }
  readonly spec?: { readonly template?: PodTemplate }
}
interface PodTemplate {
  readonly metadata: object
  readonly spec: { readonly containers: readonly Container[]; readonly volumes?: readonly object[] }
}
interface Container {
  readonly args?: readonly string[]
  readonly command?: readonly string[]
  readonly volumeMounts: readonly { readonly name: string }[]
}

const MONITORING = 'k8s/components/monitoring'
const OVERLAYS = [
  { overlay: 'production', namespace: 'keelson' },
  { overlay: 'development', namespace: 'keelson-development' },
]
const skipWithoutOpenssl =
  skipWithoutKubectl || (spawnSync('openssl', ['version']).status === 0 ? false : 'openssl is not on the PATH')

const rendered = new Map<string, Manifest[]>()
function render(overlay: string): Manifest[] {
  let manifests = rendered.get(overlay)
  if (manifests === undefined) {
    const text = execFileSync('kubectl', ['kustomize', `k8s/overlays/${overlay}`], { encoding: 'utf8' })
    manifests = loadAll(text) as Manifest[]
    rendered.set(overlay, manifests)
  }
  return manifests
}

const nameOf = ({ kind, metadata }: Manifest): string => `${kind}/${metadata.name}`

/** Where what was applied is not in what is stored: the server may add, never change. */
function missing(wanted: unknown, stored: unknown, at = ''): string[] {
  if (Array.isArray(wanted)) {
    if (!Array.isArray(stored) || stored.length !== wanted.length) return [`${at}: not as long`]
    return wanted.flatMap((item, i) => missing(item, stored[i], `${at}[${i}]`))
  }
  if (typeof wanted === 'object' && wanted !== null) {
    if (typeof stored !== 'object' || stored === null) return Object.keys(wanted).length === 0 ? [] : [`${at}: gone`]
    return Object.entries(wanted).flatMap(([key, value]) =>
      missing(value, (stored as Record<string, unknown>)[key], `${at}.${key}`),
    )
  }
  return wanted === stored ? [] : [`${at}: ${JSON.stringify(stored)} instead of ${JSON.stringify(wanted)}`]
}

t.test('manifests', { skip: skipWithoutKubectl }, async (t) => {
  const server = await KeelsonProcess.start([], undefined, { tls: true })
  t.teardown(() => server.close())
  const kubectl = new Kubectl(server.url)
  t.teardown(() => kubectl.close())
  const kubeconfig = path.join(server.certDir, 'admin.kubeconfig')
  const run = (...args: string[]) => kubectl.run(['--kubeconfig', kubeconfig, ...args])
  /** What it prints; a word on standard error, warnings too, fails the test. */
  const quiet = async (t: Test, ...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await run(...args)
    t.equal(code, 0, `kubectl ${args.join(' ')}`)
    t.equal(stderr, '', 'without a warning')
    return stdout.trim()
  }
  /** What is stored of an overlay, by name. */
  const stored = async (t: Test, folder: string): Promise<Map<string, Manifest>> => {
    const list = JSON.parse(await quiet(t, 'get', '-k', folder, '-o', 'json')) as { items: Manifest[] }
    return new Map(list.items.map((item) => [nameOf(item), item]))
  }

  for (const { overlay, namespace } of OVERLAYS) {
    await t.test(`${overlay}: dry run, apply, read back, apply again`, async (t) => {
      const folder = `k8s/overlays/${overlay}`
      const manifests = render(overlay)
      await quiet(t, 'apply', '-f', `${folder}/namespace.yaml`)
      const dry = await quiet(t, 'apply', '-k', folder, '--dry-run=server')
      t.equal(dry.split('\n').length, manifests.length)
      t.ok(dry.split('\n').every((line) => line.endsWith('(server dry run)')))
      const none = await run('get', 'deployment', '-n', namespace, '-o', 'name')
      t.equal(none.stdout, '', 'a dry run leaves nothing')
      await quiet(t, 'apply', '-k', folder)
      const before = await stored(t, folder)
      t.equal(before.size, manifests.length)
      for (const manifest of manifests)
        t.same(missing(manifest, before.get(nameOf(manifest))), [], `${nameOf(manifest)} is as it was applied`)
      const again = await quiet(t, 'apply', '-k', folder)
      // kubectl itself always sends a patch for these two: it replaces selectors and claim templates as a whole.
      const sent = again.split('\n').filter((line) => !/^(poddisruptionbudget|statefulset)/.test(line))
      t.same(
        sent.filter((line) => !line.endsWith(' unchanged')),
        [],
      )
      const versions = (found: Map<string, Manifest>): (string | undefined)[] =>
        [...found.values()].map(({ metadata }) => metadata.resourceVersion)
      t.same(versions(await stored(t, folder)), versions(before), 'nothing was written again')
    })

    await t.test(`${overlay}: its pods are let into a namespace that enforces the restricted standard`, async (t) => {
      const pod = (name: string, spec: object) => ({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name, namespace },
        spec,
      })
      for (const { spec, metadata } of render(overlay)) {
        if (spec?.template === undefined) continue
        const { volumes = [], containers } = spec.template.spec
        const claimed = containers
          .flatMap(({ volumeMounts }) => volumeMounts)
          .filter(({ name }) => !volumes.some((volume) => 'name' in volume && volume.name === name))
          .map(({ name }) => ({ name, emptyDir: {} }))
        const file = kubectl.file(
          pod(`${metadata.name}-try`, { ...spec.template.spec, volumes: [...volumes, ...claimed] }),
        )
        t.equal(await quiet(t, 'create', '-f', file), `pod/${metadata.name}-try created`)
      }
      const refused = await run('create', '-f', kubectl.file(pod('root', { containers: [{ name: 'c', image: 'i' }] })))
      t.match(refused.stderr, 'violates PodSecurity "restricted:latest"')
    })
  }

  await t.test('extension: a dry run of the server behind another one, with flags that there are', async (t) => {
    const folder = 'k8s/overlays/extension'
    const manifests = render('extension')
    await quiet(t, 'apply', '-f', `${folder}/namespace.yaml`)
    const dry = await quiet(t, 'apply', '-k', folder, '--dry-run=server')
    t.equal(dry.split('\n').length, manifests.length)
    const { args = [] } = manifests.find(({ kind }) => kind === 'StatefulSet')!.spec!.template!.spec.containers[0]!
    const { errors, foreign } = parseFlags(args, FLAGS)
    t.same({ errors, foreign }, { errors: [], foreign: [] })
  })

  await t.test('the load job is let in too', async (t) => {
    const job = load(readFileSync('k8s/components/load-test/job.yaml', 'utf8')) as object
    t.equal(await quiet(t, 'create', '-n', 'keelson', '-f', kubectl.file(job)), 'job.batch/keelson-load created')
  })

  await t.test('probes ask for what the server answers, to anybody', async (t) => {
    const deployment = render('production').find(({ kind }) => kind === 'Deployment')!
    const paths = [...JSON.stringify(deployment).matchAll(/"httpGet":\{"path":"([^"]+)"/g)].map(([, found]) => found!)
    t.equal(paths.length, 3)
    for (const probe of paths) t.equal(await statusOf(`${server.url}${probe}`), 200, probe)
    t.equal(await statusOf(`${server.url}/api/v1/secrets`), 403, 'anybody is nobody in particular')
  })

  await t.test('roles name paths that are served', async (t) => {
    const roles = render('production').filter(({ kind }) => kind === 'ClusterRole')
    const urls = [...JSON.stringify(roles).matchAll(/"nonResourceURLs":\[([^\]]+)\]/g)].flatMap(
      ([, list]) => JSON.parse(`[${list}]`) as string[],
    )
    const index = JSON.parse(await quiet(t, 'get', '--raw', '/')) as { paths: string[] }
    for (const url of urls)
      t.ok(
        url.endsWith('*')
          ? index.paths.some((served) => served.startsWith(url.slice(0, -1)))
          : index.paths.includes(url),
        url,
      )
  })
})

t.test(
  'flags in the manifests are flags of the server, with the files that pki.sh makes',
  {
    skip: skipWithoutOpenssl,
  },
  async (t) => {
    const pki = temporaryFolder(t, 'pki')
    execFileSync('bash', ['k8s/pki.sh', pki], { stdio: 'ignore' })
    for (const { overlay } of OVERLAYS) {
      const deployment = render(overlay).find(({ kind }) => kind === 'Deployment')!
      const args = deployment.spec!.template!.spec.containers[0]!.args!.map((argument) =>
        argument.replace('/etc/keelson/pki', pki).replace('$(POD_IP)', '10.1.2.3'),
      )
      const { values, errors, foreign } = parseFlags(args, FLAGS)
      t.same({ errors, foreign }, { errors: [], foreign: [] }, overlay)
      const result = complete(values)
      t.same('errors' in result ? result.errors : [], [], overlay)
    }
  },
)

t.test('alerts and panels ask for metrics and labels that there are', async (t) => {
  const { spec } = load(readFileSync(`${MONITORING}/prometheusrule.yaml`, 'utf8')) as {
    spec: { groups: { rules: { alert: string; expr: string; annotations: Record<string, string> }[] }[] }
  }
  const { panels } = JSON.parse(readFileSync(`${MONITORING}/dashboard.json`, 'utf8')) as {
    panels: { title: string; targets: { expr: string }[] }[]
  }
  const expressions = [
    ...spec.groups.flatMap(({ rules }) => rules.map(({ alert, expr }) => ({ name: alert, expr }))),
    ...panels.flatMap(({ title, targets }) => targets.map(({ expr }) => ({ name: title, expr }))),
  ]
  t.ok(expressions.length > 20)
  const families = new Map(FAMILIES.map((family) => [family.name, family]))
  // Of the scrape itself, and of every process that prom-client looks at.
  const others = new Set(['up', 'process_resident_memory_bytes', 'process_cpu_seconds_total', 'process_open_fds'])
  for (const { name, expr } of expressions) {
    const { metrics, grouping } = parsePromQl(expr.replaceAll('$__rate_interval', '5m'))
    t.ok(metrics.length > 0, `${name} reads a metric`)
    for (const metric of metrics) {
      if (others.has(metric.name)) continue
      const family =
        families.get(metric.name) ?? histogramOf(families.get(metric.name.replace(/_(bucket|sum|count)$/, '')))
      t.ok(family !== undefined, `${name}: there is a metric ${metric.name}`)
      const known = new Set([...(family?.labels ?? []), 'job', 'instance', ...(family?.buckets.length ? ['le'] : [])])
      t.same(
        [...metric.labels, ...grouping].filter((label) => !known.has(label)),
        [],
        `${name}: labels of ${metric.name}`,
      )
    }
  }
})

t.test('every file of a kustomization is there, and none is forgotten', async (t) => {
  const folders = readdirSync('k8s', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('kustomization.yaml'))
    .map((name) => path.join('k8s', path.dirname(name)))
  t.equal(folders.length, 8)
  for (const folder of folders) {
    const { resources = [] } = load(readFileSync(`${folder}/kustomization.yaml`, 'utf8')) as { resources?: string[] }
    for (const resource of resources) t.ok(existsSync(path.join(folder, resource)), `${folder}/${resource}`)
    const yaml = readdirSync(folder).filter((name) => name.endsWith('.yaml') && name !== 'kustomization.yaml')
    t.same(
      yaml.filter((name) => !resources.includes(name)),
      [],
      folder,
    )
  }
})

const histogramOf = <F extends { readonly type: string }>(family: F | undefined): F | undefined =>
  family?.type === 'histogram' ? family : undefined

function statusOf(url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    request(url, { rejectUnauthorized: false }, (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
      .on('error', reject)
      .end()
  })
}
