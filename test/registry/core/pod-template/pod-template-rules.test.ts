import t from 'tap'
import type { FieldError } from '#keelson/api/field-error.js'
import type { KubeObject } from '#keelson/api/object.js'
import { RulesStrategy } from '#keelson/registry/generic/rules-strategy.js'
import { rulesOf } from '#keelson/registry/rules-table.js'
import { requestContext } from '../../../support/request-context.js'

const context = requestContext({ namespace: 'a' })
const rules = rulesOf({ group: '', resource: 'podtemplates' })
const kind = { group: '', kind: 'PodTemplate' }
const strategy = new RulesStrategy({ kind, namespaceScoped: true, hasStatus: false }, rules)
const CONTAINER = { name: 'main', image: 'app:1' }

function templateOf(spec: object, container: object = {}, annotations?: object): KubeObject {
  const object = {
    metadata: { name: 'a', namespace: 'a', uid: 'u', resourceVersion: '1' },
    template: { metadata: { annotations }, spec: { ...spec, containers: [{ ...CONTAINER, ...container }] } },
  } as unknown as KubeObject
  rules.setDefaults?.(object)
  return object
}

const specOf = (object: KubeObject): Record<string, unknown> =>
  (object['template'] as { spec: Record<string, unknown> }).spec
const containerOf = (object: KubeObject): unknown => (specOf(object)['containers'] as unknown[])[0]
const causes = (errors: readonly FieldError[]): string[] => errors.map(({ field, type }) => `${field}|${type}`).sort()

function create(object: KubeObject): { object: KubeObject; causes: string[] } {
  strategy.prepareForCreate(object, context)
  return { object, causes: causes(strategy.validate(object, context)) }
}

t.test('what gates hide is dropped, unless it has been there before', async (t) => {
  const bundle = { clusterTrustBundle: { path: 'p', name: 'n' } }
  const volumes = [{ name: 'v', projected: { sources: [bundle, { secret: { name: 's' } }] } }]
  const gated = () =>
    templateOf(
      { volumes: structuredClone(volumes), schedulingGroup: { podGroupName: 'g' } },
      { lifecycle: { stopSignal: 'SIGTERM' } },
    )
  const made = create(gated())
  t.same(made.causes, [])
  t.match(specOf(made.object), { volumes: [{ projected: { sources: [{}, { secret: { name: 's' } }] } }] })
  t.equal(specOf(made.object)['schedulingGroup'], undefined)
  t.notOk(Object.hasOwn(containerOf(made.object) as object, 'lifecycle'), 'nor an empty lifecycle')
  t.equal(strategy.warningsOnCreate(made.object, context).length, 1, 'a source without a source is warned of')
  const kept = gated()
  strategy.prepareForUpdate(kept, gated(), context)
  t.match(specOf(kept), { volumes, schedulingGroup: { podGroupName: 'g' } })
  t.match(containerOf(kept), { lifecycle: { stopSignal: 'SIGTERM' } })
})

t.test('a volume is labelled at its mount only where it was labelled before', async (t) => {
  const at = 'template.spec.securityContext.seLinuxChangePolicy'
  const of = (seLinuxChangePolicy?: string) => templateOf({ securityContext: { seLinuxChangePolicy } })
  t.same(create(of('Recursive')).causes, [])
  t.same(create(of('MountOption')).causes, [`${at}|FieldValueNotSupported`])
  const changed = (old?: string) => causes(strategy.validateUpdate(of('MountOption'), of(old), context))
  t.same(changed(), [`${at}|FieldValueNotSupported`])
  t.same(changed('Recursive'), [])
})

t.test('defaults deep in a template', async (t) => {
  const fileKeyRef = { key: 'K', path: 'p', volumeName: 'v' }
  const object = templateOf(
    { volumes: [{ name: 'v' }] },
    { livenessProbe: { grpc: { port: 1 } }, env: [{ name: 'E', valueFrom: { fileKeyRef } }] },
  )
  t.match(containerOf(object), {
    livenessProbe: { grpc: { service: '' } },
    env: [{ valueFrom: { fileKeyRef: { optional: false } } }],
  })
})

t.test('rules of templates', async (t) => {
  const at = 'template.spec'
  const ephemeral = (metadata: object) => ({
    volumes: [
      {
        name: 'v',
        ephemeral: {
          volumeClaimTemplate: {
            metadata,
            spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1' } } },
          },
        },
      },
    ],
  })
  const envOf = (fieldPath: string) => ({ env: [{ name: 'E', valueFrom: { fieldRef: { fieldPath } } }] })
  const cases: [string, object, object, string[]][] = [
    ['an image volume may leave its image to the pods', { volumes: [{ name: 'v', image: {} }] }, {}, []],
    [
      'processes are shared with the host or with each other',
      { hostPID: true, shareProcessNamespace: true },
      {},
      [`${at}.securityContext.shareProcessNamespace|FieldValueInvalid`],
    ],
    [
      'claims have no identity of their own',
      ephemeral({ uid: 'u' }),
      {},
      [`${at}.volumes[0].ephemeral.volumeClaimTemplate.metadata.uID|FieldValueForbidden`],
    ],
    ['the host by its oldest name', {}, envOf('spec.host'), []],
    [
      'a field that pods do not have',
      {},
      envOf('spec.hosts'),
      [`${at}.containers[0].env[0].valueFrom.fieldRef.fieldPath|FieldValueInvalid`],
    ],
  ]
  for (const [title, spec, container, expected] of cases)
    t.same(create(templateOf(spec, container)).causes, expected, title)
})

t.test('rules for restarts of an init container need a policy', async (t) => {
  const initContainers = [{ ...CONTAINER, name: 'init', restartPolicyRules: [{ action: 'Odd' }] }]
  t.same(create(templateOf({ initContainers })).causes, [
    'template.spec.initContainers[0].restartPolicy|FieldValueRequired',
  ])
})

t.test('warnings of templates', async (t) => {
  const storage = { requests: { storage: '1500m' }, limits: { storage: '2500m' } }
  const spec = { accessModes: ['ReadWriteOnce'], resources: storage }
  const volumes = [{ name: 'v', ephemeral: { volumeClaimTemplate: { spec } } }]
  const appArmor = { 'container.apparmor.security.beta.kubernetes.io/main': 'runtime/default' }
  const profile = (type: string) => ({ securityContext: { appArmorProfile: { type } } })
  const cases: [string, KubeObject, number][] = [
    ['parts of bytes, asked for and allowed', templateOf({ volumes }), 2],
    ['labels of nodes with newer names', templateOf({ nodeSelector: { 'node-role.kubernetes.io/master': '' } }), 1],
    ['an annotation instead of the field', templateOf({}, {}, appArmor), 1],
    ['an annotation that the field repeats', templateOf(profile('RuntimeDefault'), {}, appArmor), 0],
    ['an annotation that the field contradicts', templateOf(profile('Unconfined'), {}, appArmor), 1],
  ]
  for (const [title, object, count] of cases) t.equal(strategy.warningsOnCreate(object, context).length, count, title)
})
