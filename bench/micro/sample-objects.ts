/** The objects that the codec benches work on: a pod of 4 KB as a cluster has it, a ConfigMap of 1 KB. */

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
export const pod = {
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
export const configMap = {
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: meta('settings'),
  data: { 'app.yaml': 'key: value\nlist:\n- one\n- two\n'.repeat(20), mode: 'production' },
}
