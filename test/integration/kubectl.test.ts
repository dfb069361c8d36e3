import t, { type Test } from 'tap'
import { KeelsonProcess } from '../support/keelson-process.js'
import { Kubectl, skipWithoutKubectl } from '../support/kubectl.js'

const configMap = (name: string, data: Record<string, string>) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, labels: { app: name } },
  data,
})
const deployment = (replicas: number) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec: {
    replicas,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { containers: [{ name: 'web', image: 'nginx' }] },
    },
  },
})

t.test('kubectl', { skip: skipWithoutKubectl }, async (t) => {
  const server = await KeelsonProcess.start()
  t.teardown(() => server.close())
  const kubectl = new Kubectl(server.url)
  t.teardown(() => kubectl.close())
  /** What it prints; the test fails when it fails. */
  const ok = async (t: Test, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string> => {
    const { code, stdout, stderr } = await kubectl.run(args, env)
    t.equal(code, 0, `kubectl ${args.join(' ')}${code === 0 ? '' : `: ${stderr}`}`)
    return stdout.trim()
  }
  const dataOf = async (t: Test, name: string): Promise<unknown> =>
    JSON.parse(await ok(t, ['get', 'configmap', name, '-o', 'jsonpath={.data}']))

  await t.test('creates, from a file and from its own generators', async (t) => {
    t.equal(await ok(t, ['create', '-f', kubectl.file(configMap('a', { k: '1' }))]), 'configmap/a created')
    t.equal(await ok(t, ['create', 'configmap', 'b', '--from-literal=k=2']), 'configmap/b created')
    const again = await kubectl.run(['create', 'configmap', 'b'])
    t.match(again.stderr, 'configmaps "b" already exists')
    const invalid = await kubectl.run(['create', '-f', kubectl.file({ ...configMap('c', {}), unknown: true })])
    t.match(invalid.stderr, 'unknown field')
  })

  await t.test('says itself that there is no such kind', async (t) => {
    const foo = { apiVersion: 'example.com/v1', kind: 'Foo', metadata: { name: 'a' } }
    const { code, stderr } = await kubectl.run(['apply', '-f', kubectl.file(foo)])
    t.equal(code, 1)
    t.match(stderr, 'no matches for kind "Foo" in version "example.com/v1"')
  })

  await t.test('reads the document of OpenAPI version 2, which is protobuf', async (t) => {
    const explained = await ok(t, ['explain', 'pod.spec.tolerations', '--output=plaintext-openapiv2'])
    t.match(explained, /RESOURCE: tolerations <\[\]Object>/)
    t.match(explained, /tolerationSeconds\t<integer>/)
  })

  await t.test('gets in every output format', async (t) => {
    const get = (...args: string[]): Promise<string> => ok(t, ['get', 'configmap', ...args])
    t.match(await get(), /^NAME +DATA +AGE\na +1 +\d+s\nb +1 +\d+s$/)
    t.match(await get('-o', 'wide'), /^NAME +DATA +AGE/)
    t.match(await get('--show-labels'), /LABELS\na .*app=a/)
    t.equal(await get('-o', 'name'), 'configmap/a\nconfigmap/b')
    t.match(JSON.parse(await get('-o', 'json')), { kind: 'List', items: [{ metadata: { name: 'a' } }, {}] })
    t.match(await get('a', '-o', 'yaml'), /^apiVersion: v1\ndata:\n {2}k: "1"\nkind: ConfigMap\n/)
    t.equal(await get('-o', 'jsonpath={.items[*].data.k}'), '1 2')
    t.match(await get('-o', 'custom-columns=N:.metadata.name,K:.data.k'), /^N +K\na +1\nb +2$/)
    t.equal(await get('-l', 'app=a', '-o', 'name'), 'configmap/a')
    t.equal(await get('--field-selector', 'metadata.name=b', '-o', 'name'), 'configmap/b')
    t.match(await get('-A', '--chunk-size=1', '-o', 'name'), 'configmap/a\nconfigmap/b')
    t.match((await kubectl.run(['get', 'configmap', 'none'])).stderr, '(NotFound): configmaps "none" not found')
  })

  await t.test('applies on the client, with a diff before', async (t) => {
    const file = kubectl.file(configMap('applied', { k: '1', gone: 'soon' }))
    t.equal(await ok(t, ['apply', '-f', file]), 'configmap/applied created')
    t.equal(await ok(t, ['apply', '-f', file]), 'configmap/applied unchanged')
    t.equal(await ok(t, ['diff', '-f', file]), '')
    const changed = kubectl.file(configMap('applied', { k: '2' }))
    const diff = await kubectl.run(['diff', '-f', changed])
    t.equal(diff.code, 1, 'a difference is code 1')
    t.match(diff.stdout, /-\s+k: "1"\n\+\s+k: "2"/)
    t.equal(await ok(t, ['apply', '-f', changed]), 'configmap/applied configured')
    t.same(await dataOf(t, 'applied'), { k: '2' }, 'what left the manifest left the object')
  })

  await t.test('applies on the server, with conflicts between managers', async (t) => {
    const apply = ['apply', '--server-side', '-f']
    t.equal(await ok(t, [...apply, kubectl.file(deployment(1))]), 'deployment.apps/web serverside-applied')
    const other = kubectl.file(deployment(3))
    const conflict = await kubectl.run([...apply, other, '--field-manager=other'])
    t.not(conflict.code, 0)
    t.match(conflict.stderr, /conflict with "kubectl".*\.spec\.replicas/s)
    await ok(t, [...apply, other, '--field-manager=other', '--force-conflicts'])
    t.equal(await ok(t, ['get', 'deployment', 'web', '-o', 'jsonpath={.spec.replicas}']), '3')
    t.match(await ok(t, ['get', 'deployments']), /NAME +READY +UP-TO-DATE +AVAILABLE +AGE\nweb +0\/3/)
  })

  await t.test('patches in every way, labels, annotates, replaces and edits', async (t) => {
    const patch = (type: string, body: unknown): Promise<string> =>
      ok(t, ['patch', 'configmap', 'a', '--type', type, '-p', JSON.stringify(body)])
    await patch('merge', { data: { merge: '1' } })
    await patch('json', [{ op: 'add', path: '/data/json', value: '1' }])
    await patch('strategic', { data: { strategic: '1', k: null } })
    t.same(await dataOf(t, 'a'), { merge: '1', json: '1', strategic: '1' })
    await ok(t, ['label', 'configmap', 'a', 'tier=back', 'app-'])
    t.equal(await ok(t, ['get', 'configmap', '-l', 'tier in (back),!app', '-o', 'name']), 'configmap/a')
    await ok(t, ['annotate', 'configmap', 'a', 'note=kept'])
    t.equal(await ok(t, ['get', 'configmap', 'a', '-o', 'jsonpath={.metadata.annotations.note}']), 'kept')
    await ok(t, ['replace', '-f', kubectl.file(configMap('a', { k: 'replaced' }))])
    t.same(await dataOf(t, 'a'), { k: 'replaced' })
    t.equal(await ok(t, ['edit', 'configmap', 'a'], { EDITOR: 'sed -i s/replaced/edited/' }), 'configmap/a edited')
    t.same(await dataOf(t, 'a'), { k: 'edited' })
  })

  await t.test('watches and waits', async (t) => {
    const waiting = ok(t, ['wait', '--for=jsonpath={.data.ready}=yes', 'configmap/b', '--timeout=120s'])
    const watching = kubectl.run([
      'get',
      '--raw',
      '/api/v1/namespaces/default/configmaps?watch=true&fieldSelector=metadata.name%3Db&timeoutSeconds=3',
    ])
    await ok(t, ['patch', 'configmap', 'b', '-p', '{"data":{"ready":"yes"}}'])
    t.equal(await waiting, 'configmap/b condition met')
    t.match((await watching).stdout, /"type":"ADDED".*"name":"b"/)
    const deleted = ok(t, ['wait', '--for=delete', 'configmap/b', '--timeout=120s'])
    t.match(await ok(t, ['delete', 'configmap', 'b']), 'configmap "b" deleted')
    await deleted
  })

  await t.test('explains and lists what there is', async (t) => {
    t.match(
      await ok(t, ['explain', 'configmap.data']),
      /KIND: +ConfigMap\nVERSION: +v1\n\nFIELD: data <map\[string\]string>/,
    )
    t.match(
      await ok(t, ['explain', 'deployment.spec', '--recursive']),
      /matchExpressions\s+<\[\]LabelSelectorRequirement>/,
    )
    const resources = await ok(t, ['api-resources'])
    t.match(resources, /configmaps +cm +v1 +true +ConfigMap/)
    t.match(resources, /deployments +deploy +apps\/v1 +true +Deployment/)
    t.match(await ok(t, ['api-versions']), 'apps/v1')
    t.match(await ok(t, ['version']), 'Server Version: v1.36')
  })

  await t.test('deletes, one and by label', async (t) => {
    await ok(t, ['delete', 'deployment', 'web'])
    await ok(t, ['label', 'configmap', 'a', 'applied', 'group=both'])
    await ok(t, ['delete', 'configmap', '-l', 'group=both'])
    t.equal(await ok(t, ['get', 'configmap', '-o', 'name']), '')
    t.match(await ok(t, ['delete', 'configmap', 'a', '--ignore-not-found']), '')
  })

  await t.test('scales, drains, approves, and asks for tokens', async (t) => {
    await ok(t, ['create', 'deployment', 'scaled', '--image=nginx'])
    t.equal(await ok(t, ['scale', 'deployment', 'scaled', '--replicas=4']), 'deployment.apps/scaled scaled')
    t.equal(await ok(t, ['get', 'deployment', 'scaled', '-o', 'jsonpath={.spec.replicas}']), '4')
    t.match((await kubectl.run(['scale', 'deployment', 'scaled', '--replicas=5', '--current-replicas=9'])).code, 1)
    await ok(t, ['create', '-f', kubectl.file({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'drained' } })])
    const evicted = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'evicted' },
      spec: { nodeName: 'drained', terminationGracePeriodSeconds: 0, containers: [{ name: 'c', image: 'i' }] },
    }
    await ok(t, ['create', '-f', kubectl.file(evicted)])
    t.match(await ok(t, ['drain', 'drained', '--force']), /pod\/evicted evicted\nnode\/drained drained/)
    t.equal(await ok(t, ['get', 'pods', '--field-selector', 'spec.nodeName=drained', '-o', 'name']), '')
    await ok(t, ['create', 'serviceaccount', 'bot'])
    t.match(await ok(t, ['create', 'token', 'bot', '--duration=20m']), /^[\w-]+\.[\w-]+\.[\w-]+$/)
    t.match(await ok(t, ['get', 'componentstatuses', 'etcd-0']), /etcd-0 +Healthy/)
  })
})
