/** Question: what does a write spend on managedFields and on its patch? Workload: a 1 KB ConfigMap and a 4 KB pod, one thread. */
import { BuiltinSchemas } from '#keelson/api/builtin-schema.js'
import type { JsonObject } from '#keelson/api/object.js'
import { FieldManager } from '#keelson/workers/endpoints/apply/field-manager.js'
import { applyJsonPatch } from '#keelson/workers/endpoints/patch/json-patch.js'
import { applyMergePatch } from '#keelson/workers/endpoints/patch/merge-patch.js'
import { applyStrategicMergePatch } from '#keelson/workers/endpoints/patch/strategic-merge-patch.js'

const NOW = Date.parse('2026-01-02T03:04:05Z')

function configMap(): JsonObject {
  const data = Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`key-${i}`, 'x'.repeat(80)]))
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'bench', namespace: 'default', labels: { app: 'bench' } },
    data,
  }
}

function container(i: number): JsonObject {
  return {
    name: `container-${i}`,
    image: 'registry.example.com/team/application:1.2.3',
    args: ['--verbose', '--port=8080', `--shard=${i}`],
    env: Array.from({ length: 6 }, (_, e) => ({ name: `VARIABLE_${e}`, value: `value-${e}` })),
    ports: [
      { name: 'http', containerPort: 8080, protocol: 'TCP' },
      { name: 'metrics', containerPort: 9090, protocol: 'TCP' },
    ],
    resources: { limits: { cpu: '500m', memory: '256Mi' }, requests: { cpu: '100m', memory: '128Mi' } },
    livenessProbe: {
      httpGet: { path: '/healthz', port: 8080, scheme: 'HTTP' },
      periodSeconds: 10,
      timeoutSeconds: 1,
      successThreshold: 1,
      failureThreshold: 3,
    },
    readinessProbe: {
      httpGet: { path: '/readyz', port: 8080, scheme: 'HTTP' },
      periodSeconds: 10,
      timeoutSeconds: 1,
      successThreshold: 1,
      failureThreshold: 3,
    },
    volumeMounts: [{ name: 'config', mountPath: '/etc/config', readOnly: true }],
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    imagePullPolicy: 'IfNotPresent',
  }
}

function pod(): JsonObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: 'bench',
      namespace: 'default',
      labels: { app: 'bench', tier: 'backend' },
      annotations: { 'example.com/note': 'x'.repeat(100) },
    },
    spec: {
      containers: [container(0), container(1), container(2)],
      volumes: [{ name: 'config', configMap: { name: 'config', defaultMode: 420 } }],
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 30,
      dnsPolicy: 'ClusterFirst',
      serviceAccountName: 'default',
      securityContext: {},
      schedulerName: 'default-scheduler',
      tolerations: [
        { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
      ],
    },
    status: {},
  }
}

/** Microseconds a call: the best of many short runs, so that what else the machine does counts little. */
function microseconds(call: () => unknown, times = 200): number {
  let best = Number.POSITIVE_INFINITY
  for (let run = 0; run < 100; run++) {
    const started = performance.now()
    for (let i = 0; i < times; i++) call()
    best = Math.min(best, ((performance.now() - started) * 1000) / times)
  }
  return best
}

export async function run(): Promise<{ name: string; figure: string; note?: string }[]> {
  const schemas = new BuiltinSchemas()
  const podSchema = schemas.kind('', 'v1', 'Pod')!
  const maps = new FieldManager({ apiVersion: 'v1', kind: 'ConfigMap', schema: schemas.kind('', 'v1', 'ConfigMap')! })
  const pods = new FieldManager({ apiVersion: 'v1', kind: 'Pod', schema: podSchema })
  const smallBody = JSON.stringify(configMap())
  const bigBody = JSON.stringify(pod())
  const small = configMap()
  const big = pod()
  const stored = pods.update(
    undefined,
    { ...big, metadata: { ...(big['metadata'] as JsonObject), uid: 'u' } },
    'bench',
    { now: NOW },
  )
  const patch = {
    spec: { containers: [{ name: 'container-1', image: 'registry.example.com/team/application:1.2.4' }] },
  }
  const changed = applyStrategicMergePatch(stored, patch, podSchema)
  const config = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'bench' }, ...patch }
  const jsonPatch = [{ op: 'replace', path: '/spec/containers/1/image', value: 'x' }]
  const timed: [string, () => unknown, string?][] = [
    [
      'managedFields of a create, 1 KB ConfigMap',
      () => maps.update(undefined, small, 'bench', { now: NOW }),
      'aim: under 10 us',
    ],
    [
      'managedFields of a create, 4 KB pod',
      () => pods.update(undefined, big, 'bench', { now: NOW }),
      'aim: under 60 us',
    ],
    ['managedFields of an update, 4 KB pod, one image', () => pods.update(stored, changed, 'other', { now: NOW })],
    ['server-side apply, 4 KB pod, one image', () => pods.apply(stored, config, 'applier', { now: NOW, force: true })],
    ['strategic merge patch, 4 KB pod, one image', () => applyStrategicMergePatch(stored, patch, podSchema)],
    ['merge patch, 4 KB pod, one label', () => applyMergePatch(stored, { metadata: { labels: { app: 'x' } } })],
    ['JSON patch, 4 KB pod, one image', () => applyJsonPatch(stored, jsonPatch)],
    ['JSON.parse of that ConfigMap, to compare', () => JSON.parse(smallBody)],
    ['JSON.parse of that pod, to compare', () => JSON.parse(bigBody), `${bigBody.length} bytes`],
  ]
  return timed.map(([name, call, note]) => {
    const figure = `${microseconds(call).toFixed(1)} us`
    return note === undefined ? { name, figure } : { name, figure, note }
  })
}
