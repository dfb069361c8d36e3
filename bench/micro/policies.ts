/**
 * Question: what do policies cost the thread that admits a request? Workload: 1,000 validating policies of two expressions with a
 * binding each, in real shared memory, 999 of them for other resources; microseconds of CPU a request, each after a look at the
 * clock. "after a change": a policy was written since the last request.
 */
import type { AdmissionAttributes } from '#keelson/admission/chain.js'
import { ConditionMetrics } from '#keelson/admission/expressions/condition-metrics.js'
import type { AdmissionKinds } from '#keelson/admission/matching/admission-kinds.js'
import type { AdmissionObjects } from '#keelson/admission/objects.js'
import { PolicyMetrics } from '#keelson/admission/policies/policy-metrics.js'
import { PolicyParams } from '#keelson/admission/policies/policy-params.js'
import { PolicySource } from '#keelson/admission/policies/policy-source.js'
import { ValidatingAdmissionPolicy } from '#keelson/admission/policies/validating-policies.js'
import { ValidatingEvaluator } from '#keelson/admission/policies/validating-policy.js'
import { BuiltinSchemas } from '#keelson/api/builtin-schema.js'
import { recordDraft } from '#keelson/api/json/record-scan.js'
import { shownTree } from '#keelson/api/json/shown-tree.js'
import type { KubeObject } from '#keelson/api/object.js'
import { MemoryOwner } from '#keelson/cacher/memory/memory-owner.js'
import type { ArenaWriter } from '#keelson/cacher/memory/shared-memory.js'
import { systemClock } from '#keelson/lib/clock.js'
import { noRecorder } from '#keelson/metrics/recorder.js'
import { cpuTime } from './cpu-time.js'

const POLICIES = 1000
const KIND = { group: '', version: 'v1', kind: 'ConfigMap' }

const policy = (name: string, resources: string[]): object => ({
  metadata: { name },
  spec: {
    matchConstraints: {
      matchPolicy: 'Equivalent',
      resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources }],
    },
    validations: [
      { expression: "object.metadata.name.startsWith('c')" },
      { expression: "!has(object.data) || object.data.all(key, key != 'secret')" },
    ],
  },
})
const binding = (name: string): object => ({
  metadata: { name },
  spec: { policyName: name, validationActions: ['Deny'] },
})

/** Kinds as far as ConfigMaps need them; nothing is converted here. */
function configMapKinds(): AdmissionKinds {
  const schema = new BuiltinSchemas().kind('', 'v1', 'ConfigMap')!
  const generation = {}
  const unused = (): never => {
    throw new Error('this bench converts nothing')
  }
  return {
    generation: () => generation,
    equivalents: () => [],
    convert: (object) => object,
    tree: (object) => shownTree(object, schema),
    isCustom: () => false,
    resourceOf: () => undefined,
    encode: unused,
    decode: unused,
    decodeStrictly: unused,
    merge: unused,
    patch: unused,
    patchIfTested: unused,
  }
}

const objects: AdmissionObjects = {
  get: () => undefined,
  list: () => [],
  select: () => [],
  getLive: () => undefined,
  listLive: () => [],
}

function creation(resource: string, object: KubeObject): AdmissionAttributes {
  return {
    operation: 'CREATE',
    resource: { group: '', version: 'v1', resource },
    subresource: '',
    kind: KIND,
    name: 'c',
    namespace: '',
    object,
    oldObject: undefined,
    options: {},
    dryRun: false,
    user: { name: 'u', uid: '', groups: [], extra: {} },
    reinvocation: { isReinvoke: false, requested: false },
    addWarning: () => undefined,
    addAnnotation: () => undefined,
    onOutcome: () => undefined,
  }
}

export async function run(): Promise<{ name: string; figure: string; note?: string }[]> {
  const owner = new MemoryOwner()
  const reader = owner.localReader()
  let revision = 0
  const arenas = new Map<string, ArenaWriter>()
  for (const resource of ['policies', 'bindings']) {
    const arena = owner.createArena(resource, {})
    arena.setReady(true)
    arenas.set(resource, arena)
  }
  const put = (resource: string, name: string, object: object): void => {
    revision++
    const arena = arenas.get(resource)!
    arena.put(`/registry/${resource}/${name}`, recordDraft(Buffer.from(JSON.stringify(object)), []), revision, revision)
    arena.publish(revision)
    owner.clock.advance(revision)
  }
  const store = (name: string, resources: string[]): void => {
    put('policies', name, policy(name, resources))
    put('bindings', name, binding(name))
  }
  for (let i = 1; i < POLICIES; i++) store(`p${i}`, [`others${i}`])
  store('p0', ['configmaps'])
  const kinds = configMapKinds()
  const view = (resource: string) => ({
    resource,
    view: { clock: reader.clock, known: () => reader.arena(resource) },
  })
  const conditions = new ConditionMetrics(noRecorder(), 'policy', 'validate')
  const source = new PolicySource({
    policies: view('policies'),
    bindings: view('bindings'),
    kinds,
    compile: (raw: ConstructorParameters<typeof ValidatingEvaluator>[0]) =>
      new ValidatingEvaluator(raw, systemClock, conditions),
    onStale: () => undefined,
  })
  const plugin = new ValidatingAdmissionPolicy(
    source,
    { kinds, objects, params: new PolicyParams(objects, kinds), authorizer: undefined, clock: systemClock },
    new PolicyMetrics(noRecorder()),
  )
  const data = Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`key${i}`, 'value']))
  const object: KubeObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' }, data } as KubeObject
  const others = creation('secrets', object)
  const matched = creation('configmaps', object)
  const figures = [
    {
      name: `${POLICIES} policies, none for the request`,
      figure: `${cpuTime(() => plugin.validate(others)).toFixed(2)} µs`,
    },
    {
      name: `${POLICIES} policies, one of two expressions for it`,
      figure: `${(await asyncCpuTime(() => plugin.validate(matched))).toFixed(1)} µs`,
    },
  ]
  const put1 = cpuTime(() => put('policies', 'other', policy('other', ['x'])))
  const changing = cpuTime(() => {
    put('policies', 'p1', policy('p1', ['x']))
    return plugin.validate(others)
  })
  return [...figures, { name: 'after a change of a policy', figure: `${(changing - put1).toFixed(0)} µs` }]
}

async function asyncCpuTime(work: () => unknown): Promise<number> {
  const rounds = 5000
  let best = Number.POSITIVE_INFINITY
  for (let round = 0; round < 3; round++) {
    const before = process.cpuUsage()
    for (let i = 0; i < rounds; i++) await work()
    const { user, system } = process.cpuUsage(before)
    best = Math.min(best, (user + system) / rounds)
  }
  return best
}
