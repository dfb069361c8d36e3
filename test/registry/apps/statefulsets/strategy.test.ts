import t from 'tap'
import type { KubeObject } from '#keelson/api/object.js'
import { RulesStrategy } from '#keelson/registry/generic/rules-strategy.js'
import { rulesOf } from '#keelson/registry/rules-table.js'
import { requestContext } from '../../../support/request-context.js'

const context = requestContext({ namespace: 'a' })
const rules = rulesOf({ group: 'apps', resource: 'statefulsets' })
const kind = { group: 'apps', kind: 'StatefulSet' }
const strategy = new RulesStrategy({ kind, namespaceScoped: true, hasStatus: true }, rules)

function setOf(spec: object): KubeObject {
  const template = { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'main', image: 'app:1' }] } }
  const object = {
    metadata: { name: 'a', namespace: 'a', uid: 'u', resourceVersion: '1' },
    spec: { selector: { matchLabels: { app: 'a' } }, template, ...structuredClone(spec) },
  } as unknown as KubeObject
  rules.setDefaults?.(object)
  return object
}

const strategyOf = (object: KubeObject): unknown => (object['spec'] as { updateStrategy: unknown }).updateStrategy

function updateCauses(spec: object, old: object = {}): string[] {
  return strategy
    .validateUpdate(setOf(spec), setOf(old), context)
    .map(({ field, type }) => `${field}|${type}`)
    .sort()
}

const claim = (storage: string) => ({
  metadata: { name: 'data' },
  apiVersion: 'v9',
  kind: 'Odd',
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } },
})

t.test('how many pods may be unavailable is behind a gate', async (t) => {
  const rolling = { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 2 } } }
  const made = setOf(rolling)
  strategy.prepareForCreate(made, context)
  t.same(strategyOf(made), { type: 'RollingUpdate', rollingUpdate: { partition: 0 } })
  t.same(strategyOf(setOf({})), { type: 'RollingUpdate', rollingUpdate: { partition: 0 } })
  const kept = setOf(rolling)
  strategy.prepareForUpdate(kept, setOf(rolling), context)
  t.match(strategyOf(kept), { rollingUpdate: { maxUnavailable: 2 } })
})

t.test('what pods and their storage were made from stays', async (t) => {
  const forbidden = ['spec|FieldValueForbidden']
  const cases: [object, string[]][] = [
    [{ replicas: 3, minReadySeconds: 1, ordinals: { start: 1 }, revisionHistoryLimit: 1 }, []],
    [{ persistentVolumeClaimRetentionPolicy: { whenScaled: 'Delete' }, updateStrategy: { type: 'OnDelete' } }, []],
    [{ serviceName: 'other' }, forbidden],
    [{ podManagementPolicy: 'Parallel' }, forbidden],
    [{ volumeClaimTemplates: [claim('1Gi')] }, forbidden],
    [{ replicas: -1, serviceName: 'other' }, ['spec.replicas|FieldValueInvalid', ...forbidden]],
  ]
  for (const [spec, expected] of cases) t.same(updateCauses(spec), expected, JSON.stringify(spec))
})

t.test('a template that could not be made any more does not stand in the way of other changes', async (t) => {
  const broken = { template: { metadata: { labels: { app: 'a' } }, spec: { containers: [] } } }
  t.same(updateCauses({ ...broken, replicas: 2 }, broken), [])
  t.same(updateCauses(broken), ['spec.template.spec.containers|FieldValueRequired'])
})

t.test('claims in templates are claims, whatever they call themselves', async (t) => {
  const set = setOf({ volumeClaimTemplates: [claim('1500m')] })
  t.match(set['spec'], { volumeClaimTemplates: [{ apiVersion: 'v1', kind: 'PersistentVolumeClaim' }] })
  t.equal(strategy.warningsOnCreate(set, context).length, 1, 'half a byte')
})
