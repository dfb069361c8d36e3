/**
 * Question: what does a write cost in the codec? Workload: a 4 KB pod and a 1 KB ConfigMap, one thread; microseconds of
 * CPU, so that a busy machine does not count. JSON.parse and JSON.stringify stand beside for scale.
 */
import { BuiltinSchemas } from '#keelson/api/builtin-schema.js'
import { decodeJson } from '#keelson/api/json/decode.js'
import { encodeJson } from '#keelson/api/json/encode.js'
import { encodeDraft } from '#keelson/api/json/encode-draft.js'
import type { FieldSpec } from '#keelson/api/json/field-spec.js'
import { parseJson } from '#keelson/api/json/parse.js'
import { JsonReader } from '#keelson/api/json/reader.js'
import { recordDraft } from '#keelson/api/json/record-scan.js'

const POD_FIELDS: readonly FieldSpec[] = [
  'metadata.name',
  'metadata.namespace',
  'spec.nodeName',
  'spec.restartPolicy',
  'spec.schedulerName',
  'spec.serviceAccountName',
  'spec.hostNetwork',
  'status.phase',
  'status.podIP',
  'status.nominatedNodeName',
].map((name) => ({ name }))

const time = '2026-01-02T03:04:05Z'
const meta = (name: string) => ({
  name,
  namespace: 'default',
  uid: 'd4506b3c-577d-4373-815c-eea32ae0e6f8',
  generation: 1,
  creationTimestamp: time,
  labels: { 'app.kubernetes.io/name': 'web', 'pod-template-hash': '5d4f8c7b9f', tier: 'front' },
  annotations: { 'example.com/checksum': '3b5d5c3712955042212316173ccf37be'.repeat(2) },
})
const container = (name: string) => ({
  name,
  image: `registry.example.com/team/${name}:1.2.3`,
  args: ['--listen=:8080', '--log-level=info'],
  ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }],
  env: [
    { name: 'POD_NAME', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } } },
    { name: 'MODE', value: 'production' },
  ],
  resources: { limits: { cpu: '500m', memory: '256Mi' }, requests: { cpu: '100m', memory: '64Mi' } },
  volumeMounts: [{ name: 'config', mountPath: '/etc/config' }],
  livenessProbe: {
    httpGet: { path: '/healthz', port: 8080, scheme: 'HTTP' },
    timeoutSeconds: 1,
    periodSeconds: 10,
    successThreshold: 1,
    failureThreshold: 3,
  },
  terminationMessagePath: '/dev/termination-log',
  terminationMessagePolicy: 'File',
  imagePullPolicy: 'IfNotPresent',
})
const condition = (type: string) => ({ type, status: 'True', lastProbeTime: null, lastTransitionTime: time })
const pod = {
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: {
    ...meta('web-5d4f8c7b9f-x2x7k'),
    ownerReferences: [
      {
        apiVersion: 'apps/v1',
        kind: 'ReplicaSet',
        name: 'web-5d4f8c7b9f',
        uid: '0b9b3bd4-46c5-4d6a-8b29-2a55a2f4c8a4',
        controller: true,
        blockOwnerDeletion: true,
      },
    ],
  },
  spec: {
    volumes: [{ name: 'config', configMap: { name: 'web', defaultMode: 420 } }],
    containers: [container('web'), container('proxy')],
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 30,
    dnsPolicy: 'ClusterFirst',
    serviceAccountName: 'web',
    serviceAccount: 'web',
    nodeName: 'node-17',
    securityContext: {},
    schedulerName: 'default-scheduler',
    tolerations: [
      { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
      { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
    ],
    priority: 0,
    enableServiceLinks: true,
    preemptionPolicy: 'PreemptLowerPriority',
  },
  status: {
    phase: 'Running',
    conditions: ['Initialized', 'Ready', 'ContainersReady', 'PodScheduled'].map(condition),
    hostIP: '10.0.0.17',
    podIP: '10.1.17.4',
    podIPs: [{ ip: '10.1.17.4' }],
    startTime: time,
    qosClass: 'Burstable',
  },
}
const configMap = {
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: meta('settings'),
  data: { 'app.yaml': 'key: value\nlist:\n- one\n- two\n'.repeat(20), mode: 'production' },
}

const ROUNDS = 5000

/** Microseconds of this thread's CPU a call, the best of three. */
function cpu(work: () => unknown): number {
  let best = Number.POSITIVE_INFINITY
  for (let round = 0; round < 3; round++) {
    const before = process.cpuUsage()
    for (let i = 0; i < ROUNDS; i++) work()
    const { user, system } = process.cpuUsage(before)
    best = Math.min(best, (user + system) / ROUNDS)
  }
  return best
}

export async function run(): Promise<{ name: string; figure: string; note?: string }[]> {
  const schemas = new BuiltinSchemas()
  const rows: { name: string; figure: string; note?: string }[] = []
  for (const object of [pod, configMap]) {
    const schema = schemas.kind('', 'v1', object.kind)!
    const bytes = encodeJson(object, schema)
    const text = bytes.toString()
    const tree = decodeJson(bytes, schema).object
    const add = (what: string, work: () => unknown) =>
      rows.push({ name: `${object.kind} (${bytes.length} B): ${what}`, figure: `${cpu(work).toFixed(1)} µs` })
    add('JSON.parse alone', () => JSON.parse(text))
    add('JSON.stringify alone', () => JSON.stringify(object))
    add('parse: scan and JSON.parse', () => parseJson(bytes))
    add('parse: own reader', () => new JsonReader(text).read())
    add('decode into its type', () => decodeJson(bytes, schema))
    add('encode', () => encodeJson(tree, schema))
    add('record draft from bytes', () => recordDraft(bytes, POD_FIELDS))
    add('encode into a record draft', () => encodeDraft(tree, schema, POD_FIELDS))
  }
  return rows
}
