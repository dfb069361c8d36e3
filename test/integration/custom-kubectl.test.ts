import t, { type Test } from 'tap'
import { KeelsonProcess } from '../support/keelson-process.js'
import { Kubectl, skipWithoutKubectl } from '../support/kubectl.js'

const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget', singular: 'widget', shortNames: ['wd'], categories: ['all'] },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: {
          status: {},
          scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
        },
        additionalPrinterColumns: [
          { name: 'Color', type: 'string', jsonPath: '.spec.color' },
          { name: 'Replicas', type: 'integer', jsonPath: '.spec.replicas', priority: 1 },
        ],
        selectableFields: [{ jsonPath: '.spec.color' }],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            description: 'A widget is what this test is about.',
            properties: {
              spec: {
                type: 'object',
                required: ['color'],
                properties: {
                  color: { type: 'string', description: 'What it looks like.' },
                  replicas: { type: 'integer', default: 1 },
                  ports: {
                    type: 'array',
                    'x-kubernetes-list-type': 'map',
                    'x-kubernetes-list-map-keys': ['name'],
                    items: {
                      type: 'object',
                      required: ['name'],
                      properties: { name: { type: 'string' }, port: { type: 'integer' } },
                    },
                  },
                },
              },
              status: {
                type: 'object',
                properties: {
                  replicas: { type: 'integer' },
                  conditions: {
                    type: 'array',
                    items: { type: 'object', properties: { type: { type: 'string' }, status: { type: 'string' } } },
                  },
                },
              },
            },
          },
        },
      },
      {
        name: 'v1beta1',
        served: true,
        storage: false,
        deprecated: true,
        deprecationWarning: 'use example.com/v1',
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
}
const widget = (name: string, color: string, more: object = {}) => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name },
  spec: { color, ...more },
})

t.test('kubectl on a custom kind', { skip: skipWithoutKubectl }, async (t) => {
  const server = await KeelsonProcess.start()
  t.teardown(() => server.close())
  const kubectl = new Kubectl(server.url)
  t.teardown(() => kubectl.close())
  const ok = async (t: Test, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string> => {
    const { code, stdout, stderr } = await kubectl.run(args, env)
    t.equal(code, 0, `kubectl ${args.join(' ')}${code === 0 ? '' : `: ${stderr}`}`)
    return stdout.trim()
  }

  await t.test('defines it, and waits for it', async (t) => {
    t.match(await ok(t, ['apply', '-f', kubectl.file(definition)]), /widgets\.example\.com created/)
    t.match(await ok(t, ['wait', '--for=condition=Established', 'crd/widgets.example.com']), /condition met/)
    t.match(
      await ok(t, ['api-resources', '--api-group=example.com']),
      /^NAME.*\nwidgets +wd +example\.com\/v1 +true +Widget$/,
    )
    t.match(await ok(t, ['apply', '-f', kubectl.file(definition)]), /unchanged/)
  })

  await t.test('explains it in the words of its definition, by both versions of OpenAPI', async (t) => {
    t.match(await ok(t, ['explain', 'widget']), /A widget is what this test is about\./)
    t.match(await ok(t, ['explain', 'wd.spec.color']), /What it looks like\./)
    t.match(await ok(t, ['explain', 'widgets.spec.ports']), /port\t<integer>/)
    t.match(await ok(t, ['explain', 'widgets.spec.color', '--output=plaintext-openapiv2']), /What it looks like\./)
  })

  await t.test('creates and applies, on the client and on the server, and is told of what is wrong', async (t) => {
    t.equal(await ok(t, ['create', '-f', kubectl.file(widget('a', 'red'))]), 'widget.example.com/a created')
    const file = kubectl.file(widget('b', 'blue', { ports: [{ name: 'x', port: 1 }] }))
    t.equal(await ok(t, ['apply', '-f', file]), 'widget.example.com/b created')
    t.equal(await ok(t, ['apply', '-f', file]), 'widget.example.com/b unchanged')
    const serverSide = kubectl.file(widget('c', 'green', { ports: [{ name: 'x', port: 1 }] }))
    t.equal(await ok(t, ['apply', '--server-side', '-f', serverSide]), 'widget.example.com/c serverside-applied')
    t.match(
      (await kubectl.run(['create', '-f', kubectl.file(widget('d', 'red', { colour: 1 }))])).stderr,
      'unknown field "spec.colour"',
    )
    t.match(
      (await kubectl.run(['create', '--validate=false', '-f', kubectl.file({ ...widget('e', 'red'), spec: {} })]))
        .stderr,
      /spec\.color: Required/,
    )
    t.match(await ok(t, ['diff', '-f', kubectl.file(widget('a', 'red'))]), '')
  })

  await t.test('gets it by its columns, names, fields, category and older version', async (t) => {
    t.match(await ok(t, ['get', 'wd']), /^NAME +COLOR\na +red\nb +blue\nc +green$/)
    t.match(await ok(t, ['get', 'widgets', '-o', 'wide']), /^NAME +COLOR +REPLICAS\na +red +1\n/)
    t.equal(
      await ok(t, ['get', 'widgets', '--field-selector', 'spec.color=blue', '-o', 'name']),
      'widget.example.com/b',
    )
    t.match(await ok(t, ['get', 'all']), 'widget.example.com/a')
    t.equal(await ok(t, ['get', 'widgets', '--chunk-size=1', '-o', 'name']).then((text) => text.split('\n').length), 3)
    const beta = await kubectl.run(['get', 'widgets.v1beta1.example.com', 'a', '-o', 'jsonpath={.apiVersion}'])
    t.equal(beta.stdout, 'example.com/v1beta1')
    t.match(beta.stderr, 'Warning: use example.com/v1')
  })

  await t.test('patches, scales, edits, waits and labels', async (t) => {
    t.match(await ok(t, ['patch', 'widget', 'a', '--type=merge', '-p', '{"spec":{"color":"black"}}']), /patched/)
    t.match(
      await ok(t, ['patch', 'wd', 'a', '--type=json', '-p', '[{"op":"replace","path":"/spec/color","value":"white"}]']),
      /patched/,
    )
    t.match(
      (await kubectl.run(['patch', 'wd', 'a', '--type=strategic', '-p', '{}'])).stderr,
      /[Uu]nsupported ?[Mm]edia ?[Tt]ype|not supported/,
    )
    t.match(await ok(t, ['scale', 'widget', 'a', '--replicas=4']), /scaled/)
    t.equal(await ok(t, ['get', 'widget', 'a', '-o', 'jsonpath={.spec.replicas} {.spec.color}']), '4 white')
    const status = { status: { replicas: 4, conditions: [{ type: 'Ready', status: 'True' }] } }
    const waiting = ok(t, ['wait', '--for=condition=Ready', 'widget/a'])
    t.match(
      await ok(t, ['patch', 'wd', 'a', '--subresource=status', '--type=merge', '-p', JSON.stringify(status)]),
      /patched/,
    )
    t.match(await waiting, /condition met/)
    t.match(await ok(t, ['edit', 'widget', 'b'], { KUBE_EDITOR: 'sed -i s/blue/pink/' }), /edited/)
    t.equal(await ok(t, ['get', 'widget', 'b', '-o', 'jsonpath={.spec.color}']), 'pink')
    t.match(await ok(t, ['label', 'widget', 'b', 'tier=front']), /labeled/)
    t.equal(await ok(t, ['get', 'wd', '-l', 'tier=front', '-o', 'name']), 'widget.example.com/b')
  })

  await t.test('deletes it, and what there is of it with its definition', async (t) => {
    t.match(await ok(t, ['delete', 'widget', 'a']), /deleted/)
    t.match(await ok(t, ['delete', 'crd', 'widgets.example.com']), /deleted/)
    t.match((await kubectl.run(['get', 'widgets'])).stderr, /doesn't have a resource type|NotFound/)
  })
})
