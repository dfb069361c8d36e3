import t from 'tap'
import type { Json, JsonObject } from '#keelson/api/object.js'
import { isPatchError, patchStatusError } from '#keelson/workers/endpoints/patch/patch-error.js'
import { applyStrategicMergePatch } from '#keelson/workers/endpoints/patch/strategic-merge-patch.js'
import { workload } from './schemas.js'

const merge = (spec: JsonObject, patch: Json): Json | undefined =>
  applyStrategicMergePatch({ spec }, { spec: patch }, workload)['spec']

function status(spec: JsonObject, patch: Json): number {
  try {
    merge(spec, patch)
    return 200
  } catch (error) {
    if (isPatchError(error)) return patchStatusError(error).code
    throw error
  }
}

const named = (...names: string[]): Json[] => names.map((name) => ({ name }))
const containers = (...names: string[]): JsonObject => ({ containers: named(...names) })
const names = (result: Json | undefined): Json[] =>
  (result as { containers: { name: string }[] }).containers.map((c) => c.name)

t.test('maps merge, null removes, scalars and atomic lists replace', async (t) => {
  const spec = {
    replicas: 1,
    revision: 9007199254740993n,
    nodeSelector: { a: '1', b: '2' },
    tolerations: [{ key: 'x' }],
  }
  t.strictSame(merge(spec, { replicas: null, nodeSelector: { b: null, c: '3' }, tolerations: [{ key: 'y' }] }), {
    revision: 9007199254740993n,
    nodeSelector: { a: '1', c: '3' },
    tolerations: [{ key: 'y' }],
  })
  t.strictSame(spec.nodeSelector, { a: '1', b: '2' })
})

t.test('nulls and directives of a new part are dropped', async (t) => {
  t.strictSame(merge({}, { strategy: { $retainKeys: ['type'], type: 'Recreate', rollingUpdate: null } }), {
    strategy: { type: 'Recreate' },
  })
  t.strictSame(merge({}, { strategy: { $patch: 'delete' } }), {})
  t.strictSame(merge({}, { containers: [{ name: 'a' }, { name: 'b', $patch: 'delete' }] }), {
    containers: [{ name: 'a' }],
  })
})

t.test('lists of objects merge by their merge key, new items first, known ones in place', async (t) => {
  const spec = {
    containers: [
      { name: 'a', image: '1' },
      { name: 'b', image: '1', args: ['x'] },
    ],
  }
  t.strictSame(merge(spec, { containers: [{ name: 'b', image: '2' }] }), {
    containers: [
      { name: 'a', image: '1' },
      { name: 'b', image: '2', args: ['x'] },
    ],
  })
  t.strictSame(names(merge(spec, containers('c'))), ['c', 'a', 'b'])
  t.strictSame(names(merge(spec, containers('b', 'a'))), ['b', 'a'])
  t.strictSame(names(merge(containers('a', 'b', 'c', 'd'), containers('d', 'b'))), ['a', 'c', 'd', 'b'])
})

t.test('lists nested in items merge too', async (t) => {
  const spec = {
    containers: [
      {
        name: 'a',
        env: [
          { name: 'X', value: '1' },
          { name: 'Y', value: '2' },
        ],
        ports: [{ containerPort: 80 }],
      },
    ],
  }
  const patch = {
    containers: [
      {
        name: 'a',
        env: [
          { name: 'Y', $patch: 'delete' },
          { name: 'Z', value: '3' },
        ],
        ports: [{ containerPort: 80, name: 'web' }],
      },
    ],
  }
  t.strictSame(merge(spec, patch), {
    containers: [
      {
        name: 'a',
        env: [
          { name: 'Z', value: '3' },
          { name: 'X', value: '1' },
        ],
        ports: [{ containerPort: 80, name: 'web' }],
      },
    ],
  })
})

t.test('$patch: delete removes an item, or empties a map', async (t) => {
  t.strictSame(names(merge(containers('a', 'b'), { containers: [{ name: 'a', $patch: 'delete' }] })), ['b'])
  t.strictSame(names(merge(containers('a'), { containers: [{ name: 'z', $patch: 'delete' }] })), ['a'])
  t.strictSame(merge({ strategy: { type: 'x' } }, { strategy: { $patch: 'delete' } }), { strategy: {} })
})

t.test('$patch: replace takes the list or map as it is', async (t) => {
  t.strictSame(names(merge(containers('a', 'b'), { containers: [{ $patch: 'replace' }, { name: 'only' }] })), ['only'])
  t.strictSame(merge({ strategy: { type: 'x', rollingUpdate: {} } }, { strategy: { $patch: 'replace', type: 'y' } }), {
    strategy: { type: 'y' },
  })
  t.strictSame(merge({ containers: named('a') }, { $patch: 'replace', replicas: 1 }), { replicas: 1 })
})

t.test('a field with the replace strategy does not merge', async (t) => {
  t.strictSame(merge({ swapped: { a: '1' } }, { swapped: { b: '2' } }), { swapped: { b: '2' } })
})

t.test('$retainKeys keeps only what it names', async (t) => {
  const spec = {
    volumes: [{ name: 'v', emptyDir: {} }],
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } },
  }
  t.strictSame(merge(spec, { volumes: [{ name: 'v', $retainKeys: ['name', 'hostPath'], hostPath: { path: '/x' } }] }), {
    ...spec,
    volumes: [{ name: 'v', hostPath: { path: '/x' } }],
  })
  t.strictSame(merge(spec, { strategy: { $retainKeys: ['type'], type: 'Recreate' } }), {
    ...spec,
    strategy: { type: 'Recreate' },
  })
  t.equal(status(spec, { strategy: { $retainKeys: 'type' } }), 400)
  t.equal(status(spec, { strategy: { $retainKeys: ['type'], rollingUpdate: {} } }), 400)
})

t.test('lists of scalars merge as sets; $deleteFromPrimitiveList takes out of them', async (t) => {
  const patch = (metadata: JsonObject, change: JsonObject): Json | undefined =>
    applyStrategicMergePatch({ metadata }, { metadata: change }, workload)['metadata']
  t.strictSame(patch({ finalizers: ['a', 'b'] }, { finalizers: ['b', 'c'] }), { finalizers: ['a', 'b', 'c'] })
  t.strictSame(patch({ finalizers: ['a', 'b', 'c'] }, { '$deleteFromPrimitiveList/finalizers': ['b'] }), {
    finalizers: ['a', 'c'],
  })
  t.strictSame(patch({}, { '$deleteFromPrimitiveList/finalizers': ['b'] }), {})
  t.strictSame(
    patch(
      { finalizers: ['a', 'b', 'c'] },
      {
        '$deleteFromPrimitiveList/finalizers': ['b'],
        '$setElementOrder/finalizers': ['d', 'c', 'a'],
        finalizers: ['d'],
      },
    ),
    { finalizers: ['d', 'c', 'a'] },
  )
})

t.test('$setElementOrder orders what it names; the rest keeps its place', async (t) => {
  const order = (...list: string[]): JsonObject => ({ '$setElementOrder/containers': named(...list) })
  t.strictSame(names(merge(containers('only'), { ...order('n2', 'only'), ...containers('n2') })), ['n2', 'only'])
  t.strictSame(names(merge(containers('a', 'b', 'c'), order('c', 'a', 'b'))), ['c', 'a', 'b'])
  t.strictSame(names(merge(containers('a', 's', 'b'), order('b', 'a'))), ['s', 'b', 'a'])
  t.strictSame(names(merge(containers('a', 'b', 's'), { ...order('b', 'a', 'n'), ...containers('n') })), [
    'b',
    'a',
    'n',
    's',
  ])
  t.strictSame(names(merge({}, { ...order('b', 'a'), ...containers('b', 'a') })), ['b', 'a'])
  t.strictSame(merge({}, order('a')), {})
  const deleting = { ...order('a'), containers: [{ name: 'b', $patch: 'delete' }] }
  t.strictSame(names(merge(containers('b', 'a'), deleting)), ['a'])
  t.equal(status(containers('a'), { ...order('a'), ...containers('x') }), 500)
  t.equal(status(containers('a'), { '$setElementOrder/containers': 'a' }), 500)
  t.equal(status(containers('a'), { $setElementOrder: [] }), 400)
})

t.test('errors are classed as the API server classes them', async (t) => {
  t.equal(status(containers('a'), { containers: [{ image: 'x' }] }), 500)
  t.equal(status(containers('a'), { containers: [{ name: 'a', $patch: 'explode' }] }), 500)
  t.equal(status(containers('a'), { containers: [{ $patch: 'delete' }] }), 500)
  t.equal(status(containers('a'), { containers: [{ name: 'a', $patch: 'merge' }] }), 500)
  t.equal(status(containers('a'), { containers: ['a'] }), 500)
  t.equal(status(containers('a'), { containers: [null] }), 500)
  t.equal(status(containers('a'), { containers: [['a']] }), 422)
  t.equal(status(containers('a'), { $patch: 'nonsense' }), 500)
  t.throws(() => merge(containers('a'), { containers: [{ image: 'x' }] }), {
    message: 'map: map[image:x] does not contain declared merge key: name',
  })
  t.throws(() => applyStrategicMergePatch({}, 'text', workload), { code: 'PatchBadRequest' })
})
