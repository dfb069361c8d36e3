import t from 'tap'
import { type KubeObject, metadataOf } from '#keelson/api/object.js'
import { equalState } from '#keelson/registry/generic/equal-state.js'
import { RulesStrategy, StatusStrategy } from '#keelson/registry/generic/rules-strategy.js'
import { rulesOf } from '#keelson/registry/rules-table.js'
import { requestContext } from '../support/request-context.js'

const context = requestContext({ namespace: 'a' })
const shape = { kind: { group: '', kind: 'X' }, namespaceScoped: true, hasStatus: false }
const METADATA = { name: 'x', namespace: 'a', resourceVersion: '1' }

type Group = [group: string, resource: string]
const LIMIT_RANGES: Group = ['', 'limitranges']
const SECRETS: Group = ['', 'secrets']
const SLICES: Group = ['discovery.k8s.io', 'endpointslices']
const BUDGETS: Group = ['policy', 'poddisruptionbudgets']
const DRIVERS: Group = ['storage.k8s.io', 'csidrivers']
const CLASSES: Group = ['scheduling.k8s.io', 'priorityclasses']

const rulesFor = ([group, resource]: Group) => rulesOf({ group, resource })
const strategyOf = (group: Group): RulesStrategy => new RulesStrategy(shape, rulesFor(group))
const said = (errors: readonly { field: string; type: string }[] | undefined): string[] =>
  (errors ?? []).map(({ field, type }) => `${field}|${type.replace('FieldValue', '')}`)

/** In the order in which clients see them. */
function causes(group: Group, given: KubeObject): string[] {
  const object = structuredClone(given)
  rulesFor(group).setDefaults?.(object)
  return said(rulesFor(group).validate?.(object, context))
}

/** The object after an update of `old` to `next`. */
function updated(group: Group, old: KubeObject, next: KubeObject): KubeObject {
  const object = structuredClone({ ...next, metadata: { ...METADATA, generation: 1, ...next.metadata } })
  const before = structuredClone({ ...old, metadata: { ...METADATA, generation: 1, ...old.metadata } })
  strategyOf(group).prepareForUpdate(object, before, context)
  return object
}

t.test('absent, null and empty lists are the same state; an object without members is another', (t) => {
  const cases: [unknown, unknown, boolean][] = [
    [{ a: [] }, { a: null }, true],
    [{ a: [] }, {}, true],
    [{}, { a: [] }, true],
    [{ a: {} }, {}, false],
    [{ a: '' }, {}, false],
    [{ a: 0 }, { a: null }, false],
    [[{ a: [1, 2] }], [{ a: [1, 2] }], true],
    [[1, 2], [2, 1], false],
    [[1], [1, 2], false],
    [[], {}, false],
    [{ 0: 1 }, [1], false],
  ]
  for (const [a, b, same] of cases) {
    t.equal(equalState(a, b), same, JSON.stringify([a, b]))
    t.equal(equalState(b, a), same, JSON.stringify([b, a]))
  }
  t.end()
})

t.test('the amounts of a limit range fit each other', (t) => {
  const at = 'spec.limits[0]'
  const cases: [object, string[]][] = [
    [{ type: 'Pod', max: { cpu: '1', storage: '1' } }, [`${at}.max[storage]|Invalid`]],
    [{ type: 'Pod', default: { cpu: '1' } }, [`${at}.default|Forbidden`]],
    [
      { type: 'PersistentVolumeClaim', maxLimitRequestRatio: { x: '2' } },
      [`${at}.limits|Required`, `${at}.maxLimitRequestRatio[x]|Invalid`],
    ],
    [{ type: 'Gadget' }, [`${at}.type|Invalid`]],
    [{ type: 'example.com/Gadget', max: { storage: '1' } }, []],
    [
      { type: 'Container', default: { 'hugepages-2Mi': '4Mi' }, defaultRequest: { 'hugepages-2Mi': '2Mi' } },
      [`${at}.defaultRequest[hugepages-2Mi]|Invalid`],
    ],
    [{ type: 'Pod', min: { cpu: '100m' }, max: { cpu: '1' }, maxLimitRequestRatio: { cpu: '10' } }, []],
    [
      { type: 'Pod', min: { cpu: '100m' }, max: { cpu: '1' }, maxLimitRequestRatio: { cpu: '10001m' } },
      [`${at}.maxLimitRequestRatio[cpu]|Invalid`],
    ],
    [
      { type: 'Pod', min: { cpu: '1n' }, max: { cpu: '1' }, maxLimitRequestRatio: { cpu: '1001' } },
      [`${at}.maxLimitRequestRatio[cpu]|Invalid`],
    ],
    [{ type: 'Pod', min: { cpu: '0' }, max: { cpu: '1' }, maxLimitRequestRatio: { cpu: '5' } }, []],
    [{ type: 'Pod', min: { memory: '1' }, max: { memory: '9E' }, maxLimitRequestRatio: { memory: '8E' } }, []],
  ]
  for (const [limit, expected] of cases)
    t.same(causes(LIMIT_RANGES, { spec: { limits: [limit] } }), expected, JSON.stringify(limit))
  t.same(causes(LIMIT_RANGES, { spec: { limits: [{ type: 'Pod' }, { type: 'Pod', max: { x: '1' } }] } }), [
    'spec.limits[1].type|Duplicate',
    'spec.limits[1].max[x]|Invalid',
    'spec.limits[1].max[x]|Invalid',
  ])
  t.end()
})

t.test('a limit range needs no name and comes with a PUT too', (t) => {
  const strategy = strategyOf(LIMIT_RANGES)
  const object: KubeObject = { metadata: {} }
  strategy.prepareForCreate(object, context)
  t.match(object.metadata?.name, /^[0-9a-f-]{36}$/)
  const named: KubeObject = { metadata: { name: 'x' } }
  strategy.prepareForCreate(named, context)
  t.equal(named.metadata?.name, 'x')
  t.equal(strategy.allowCreateOnUpdate, true)
  t.end()
})

t.test('kinds check as much of the metadata as Kubernetes does', (t) => {
  const metadata = { ...METADATA, name: 'Bad_Name', labels: { a: 'Not Valid!' } }
  const bad: [string, string] = ['metadata.name|Invalid', 'metadata.labels|Invalid']
  const cases: [Group, onCreate: string[], onUpdate: string[]][] = [
    [LIMIT_RANGES, bad, bad],
    [
      SLICES,
      ['metadata.name|Invalid', 'metadata.labels|Invalid', 'addressType|Required'],
      [...bad, 'addressType|Required'],
    ],
    [CLASSES, bad, ['metadata.labels|Invalid']],
    [BUDGETS, [], []],
  ]
  for (const [group, onCreate, onUpdate] of cases) {
    const strategy = new RulesStrategy({ ...shape, namespaceScoped: group !== CLASSES }, rulesFor(group))
    const object = { metadata: group === CLASSES ? { ...metadata, namespace: '' } : metadata }
    t.same(said(strategy.validate(structuredClone(object), context)), onCreate, group[1])
    t.same(said(strategy.validateUpdate(structuredClone(object), structuredClone(object), context)), onUpdate, group[1])
  }
  t.end()
})

const slice = (...endpoints: object[]): KubeObject => ({ addressType: 'IPv4', endpoints }) as unknown as KubeObject
const names = (count: number): object[] => Array.from({ length: count }, (_, i) => ({ name: `n${i}` }))

t.test('hints of an endpoint are few and each is there once', (t) => {
  const at = 'endpoints[0].hints'
  const cases: [object, string[]][] = [
    [{ forZones: names(8), forNodes: names(8) }, []],
    [{ forZones: names(9), forNodes: [{ name: 'Not Valid!' }] }, [`${at}.forZones|TooMany`]],
    [{ forZones: names(1), forNodes: names(9) }, [`${at}.forNodes|TooMany`]],
    [{ forZones: [{}, {}] }, [`${at}.forZones[1].name|Duplicate`]],
    [
      { forNodes: [{ name: 'N' }, { name: 'N' }] },
      [`${at}.forNodes[0].name|Invalid`, `${at}.forNodes[1].name|Duplicate`, `${at}.forNodes[1].name|Invalid`],
    ],
  ]
  for (const [hints, expected] of cases)
    t.same(causes(SLICES, slice({ addresses: ['10.0.0.1'], hints })), expected, JSON.stringify(hints))
  t.end()
})

t.test('an endpoint slice counts what was written, also what it does not keep', (t) => {
  const old = { ...slice({ addresses: ['10.0.0.1'] }), ports: null } as unknown as KubeObject
  const generationAfter = (next: object): unknown => metadataOf(updated(SLICES, old, { ...old, ...next })).generation
  const cases: [object, number][] = [
    [{}, 1],
    [{ ports: [] }, 1],
    [{ metadata: { annotations: { a: 'b' } } }, 1],
    [{ metadata: { labels: { a: 'b' } } }, 2],
    [{ ports: [{ port: 80 }] }, 2],
    [{ endpoints: [] }, 2],
    [{ endpoints: [{ addresses: ['10.0.0.1'], hints: {} }] }, 2],
    [{ endpoints: [{ addresses: ['10.0.0.1'], deprecatedTopology: { a: 'b' } }] }, 2],
  ]
  for (const [next, generation] of cases) t.equal(generationAfter(next), generation, JSON.stringify(next))
  const endpoints = [{ addresses: ['10.0.0.1'], deprecatedTopology: { a: 'b' } }]
  t.same(updated(SLICES, old, { ...old, endpoints } as unknown as KubeObject)['endpoints'], old['endpoints'])
  t.end()
})

t.test('a network policy counts an empty list as a change, unless a default fills it', (t) => {
  const spec = { podSelector: {}, ingress: [{}], policyTypes: ['Ingress'] }
  const generationAfter = (...emptied: (string | number)[][]): unknown => {
    const object: KubeObject = { metadata: { ...METADATA, generation: 1 }, spec }
    const wrote = { ...context, emptied: () => emptied }
    strategyOf(['networking.k8s.io', 'networkpolicies']).prepareForUpdate(object, structuredClone(object), wrote)
    return metadataOf(object).generation
  }
  t.equal(generationAfter(), 1)
  t.equal(generationAfter(['spec', 'ingress', 0, 'from']), 2)
  t.equal(generationAfter(['spec', 'podSelector', 'matchLabels']), 2)
  t.equal(generationAfter(['spec', 'policyTypes']), 1)
  t.equal(generationAfter(['metadata', 'labels']), 1)
  t.end()
})

t.test('tables show three ports and three addresses of a slice', (t) => {
  const shown = (ports: object[], ...addresses: string[]): unknown[] => {
    const object = { ...slice({ addresses }), ports } as unknown as KubeObject
    return rulesFor(SLICES).table?.cells(object, 0).slice(2, 4) ?? []
  }
  t.same(shown([{ name: '' }]), ['<unset>', '<unset>'])
  t.same(shown([{ port: 0 }, { name: 'a' }, {}], 'x', 'y', 'z'), ['0,a,*', 'x,y,z'])
  t.same(shown(names(5), 'w', 'x', 'y', 'z'), ['n0,n1,n2 + 2 more...', 'w,x,y + 1 more...'])
  t.end()
})

t.test('slices of the controllers are not warned about', (t) => {
  const { warningsOnUpdate } = rulesFor(SLICES)
  const warnings = (by: string): number => {
    const object = {
      ...slice({ addresses: ['2001:DB8::1'] }),
      metadata: { labels: { 'endpointslice.kubernetes.io/managed-by': by } },
    }
    return warningsOnUpdate?.(object, object, context).length ?? 0
  }
  t.equal(warnings('me'), 1)
  t.equal(warnings('endpointslice-controller.k8s.io'), 0)
  t.equal(warnings('endpointslicemirroring-controller.k8s.io'), 0)
  t.end()
})

t.test('a budget loses the mark of an empty selector unless it stands alone', (t) => {
  const mark = { key: 'pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match' }
  const other = { key: 'a', operator: 'Exists' }
  const cases: [object, object][] = [
    [{ matchExpressions: [{ ...mark, operator: 'Exists' }] }, { matchExpressions: [{ ...mark, operator: 'Exists' }] }],
    [{ matchExpressions: [{ ...mark, operator: 'DoesNotExist' }] }, {}],
    [{ matchExpressions: [{ ...mark, operator: 'Exists' }, other] }, { matchExpressions: [other] }],
    [{ matchLabels: { a: 'b' }, matchExpressions: [{ ...mark, operator: 'Exists' }] }, { matchLabels: { a: 'b' } }],
  ]
  for (const [given, selector] of cases) {
    const object: KubeObject = { spec: { selector: structuredClone(given) } }
    rulesFor(BUDGETS).setDefaults?.(object)
    t.same(object, { spec: { selector } }, JSON.stringify(given))
  }
  t.end()
})

t.test('the conditions of a budget have types, statuses, times and reasons', (t) => {
  const strategy = new StatusStrategy({ ...shape, hasStatus: true }, rulesFor(BUDGETS))
  const condition = { type: 'T', status: 'True', reason: 'R', lastTransitionTime: '2026-01-01T00:00:00Z' }
  const at = 'status.conditions[0]'
  const cases: [object, string[]][] = [
    [condition, []],
    [{ ...condition, type: '' }, [`${at}.type|Invalid`, `${at}.type|Invalid`]],
    [{ ...condition, type: 'a'.repeat(400) }, [`${at}.type|Invalid`]],
    [{ ...condition, status: 'Perhaps' }, [`${at}.status|NotSupported`]],
    [
      { ...condition, reason: '', lastTransitionTime: null },
      [`${at}.lastTransitionTime|Required`, `${at}.reason|Required`],
    ],
  ]
  for (const [given, expected] of cases) {
    const object = { metadata: METADATA, status: { conditions: [given] } } as KubeObject
    t.same(said(strategy.validateUpdate(object, object, context)), expected, JSON.stringify(given))
  }
  t.end()
})

t.test('what only a gated feature uses is not kept in new drivers', (t) => {
  const gated = { spec: { preventPodSchedulingIfMissing: true } } as KubeObject
  const object: KubeObject = structuredClone({ ...gated, metadata: {} })
  strategyOf(DRIVERS).prepareForCreate(object, context)
  t.same(object['spec'], {})
  t.match(updated(DRIVERS, { spec: {} }, gated), { metadata: { generation: 1 }, spec: {} })
  t.match(updated(DRIVERS, gated, { spec: { preventPodSchedulingIfMissing: false } }), {
    metadata: { generation: 2 },
    spec: { preventPodSchedulingIfMissing: false },
  })
  t.end()
})

t.test('the priority classes of the system are not deleted', (t) => {
  t.same(rulesFor(CLASSES).undeletable, ['system-cluster-critical', 'system-node-critical'])
  t.end()
})

t.test('bytes of a secret that are null stand for none', (t) => {
  const secret = (type: string, key: string): KubeObject => ({ type: `kubernetes.io/${type}`, data: { [key]: null } })
  t.same(causes(SECRETS, secret('dockerconfigjson', '.dockerconfigjson')), ['data[.dockerconfigjson]|Invalid'])
  t.same(causes(SECRETS, secret('ssh-auth', 'ssh-privatekey')), ['data[ssh-privatekey]|Required'])
  t.same(causes(SECRETS, secret('basic-auth', 'username')), [])
  t.end()
})
