/** Types built by hand, enough of each to merge and apply. */
import type { FieldSchema, ListSchema, MapSchema, ScalarKind, StructSchema, TypeSchema } from '#keelson/api/schema.js'

type FieldSpec = TypeSchema | (Partial<FieldSchema> & { type: TypeSchema })

const isField = (spec: FieldSpec): spec is Partial<FieldSchema> & { type: TypeSchema } => 'type' in spec

export const scalar = (kind: ScalarKind = 'string'): TypeSchema => ({ kind })

export function struct(name: string, fields: Record<string, FieldSpec>, atomic = false): StructSchema {
  const all = Object.entries(fields).map(([field, spec]): [string, FieldSchema] => {
    const given = isField(spec) ? spec : { type: spec }
    const blank = { name: field, required: false, enum: undefined, default: undefined, patchStrategies: [] }
    return [field, { ...blank, ...given }]
  })
  return { kind: 'struct', name, fields: new Map(all), atomic, preserveUnknown: false }
}

export const map = (values: TypeSchema, atomic = false): MapSchema => ({ kind: 'map', values, atomic })

export const atomicList = (items: TypeSchema): ListSchema => ({
  kind: 'list',
  items,
  listType: 'atomic',
  mapKeys: [],
  patchStrategy: 'replace',
  patchMergeKey: undefined,
})

export const keyedList = (items: TypeSchema, keys: string[], mergeKey = keys[0]): ListSchema => ({
  kind: 'list',
  items,
  listType: 'map',
  mapKeys: keys,
  patchStrategy: 'merge',
  patchMergeKey: mergeKey,
})

export const setList = (items: TypeSchema): ListSchema => ({
  kind: 'list',
  items,
  listType: 'set',
  mapKeys: [],
  patchStrategy: 'merge',
  patchMergeKey: undefined,
})

const env = struct('EnvVar', { name: { type: scalar(), default: '', required: true }, value: scalar() })
const port = struct('ContainerPort', {
  name: scalar(),
  containerPort: { type: scalar('int32'), default: 0, required: true },
  protocol: { type: scalar(), default: 'TCP' },
})
const container = struct('Container', {
  name: { type: scalar(), default: '', required: true },
  image: scalar(),
  args: atomicList(scalar()),
  env: keyedList(env, ['name']),
  ports: keyedList(port, ['containerPort', 'protocol'], 'containerPort'),
})
const volume = struct('Volume', {
  name: { type: scalar(), default: '', required: true },
  emptyDir: struct('EmptyDir', { medium: scalar() }),
  hostPath: struct('HostPath', { path: scalar() }),
})
const metadata = struct('ObjectMeta', {
  name: scalar(),
  namespace: scalar(),
  uid: scalar(),
  resourceVersion: scalar(),
  labels: map(scalar()),
  annotations: map(scalar()),
  finalizers: setList(scalar()),
  managedFields: atomicList(scalar('any')),
})

const ALWAYS = { pointer: false, omitEmpty: false, omitZero: false }

/** Something like a pod: every way that a field can merge. */
export const workload = struct('Workload', {
  apiVersion: scalar(),
  kind: scalar(),
  metadata: { type: metadata, default: {}, presence: ALWAYS },
  spec: {
    type: struct('WorkloadSpec', {
      replicas: scalar('int32'),
      revision: scalar('int64'),
      selector: struct('Selector', { matchLabels: map(scalar()) }, true),
      strategy: {
        type: struct('Strategy', {
          type: scalar(),
          rollingUpdate: struct('RollingUpdate', { maxSurge: scalar('int-or-string') }),
        }),
        patchStrategies: ['retainKeys'],
      },
      swapped: { type: struct('Swapped', { a: scalar(), b: scalar() }), patchStrategies: ['replace'] },
      containers: { type: keyedList(container, ['name']), required: true, presence: ALWAYS },
      volumes: keyedList(volume, ['name']),
      tolerations: atomicList(scalar('any')),
      nodeSelector: map(scalar(), true),
      data: scalar('any'),
    }),
    default: {},
    presence: ALWAYS,
  },
  status: {
    type: struct('WorkloadStatus', {
      ready: scalar('boolean'),
      conditions: keyedList(struct('Condition', { type: scalar(), status: scalar() }), ['type']),
    }),
    default: {},
    presence: ALWAYS,
  },
})
