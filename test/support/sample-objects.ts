/**
 * The least that makes a valid object of each built-in resource, by group and resource: what the catalogue does not say.
 * Without name, namespace, apiVersion and kind, which follow from where it is written.
 */
import type { JsonObject } from '#keelson/api/object.js'

export interface SampleObject {
  readonly object?: JsonObject
  /** Where the name says something. */
  readonly name?: string
  /** What the status endpoint is sent. */
  readonly status?: JsonObject
}

const labels = { app: 'life' }
const selector = { matchLabels: labels }
const podSpec = { containers: [{ name: 'c', image: 'example.com/i:1' }] }
const template = { metadata: { labels }, spec: podSpec }
const device = { requests: [{ name: 'r', exactly: { deviceClassName: 'class' } }] }
const subject = { kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'somebody' }
const webhook = {
  name: 'a.example.com',
  admissionReviewVersions: ['v1'],
  sideEffects: 'None',
  clientConfig: { url: 'https://127.0.0.1:1/' },
  // Nothing that the tests write: nobody answers there.
  rules: [{ apiGroups: ['nothing.example.com'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['none'] }],
}
const matchConstraints = { resourceRules: webhook.rules }
const eventTime = '2026-01-01T00:00:00.000000Z'

/** Of a key that was thrown away. */
const SIGNING_REQUEST =
  'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIZk1JR0dBZ0VBTUNReER6QU5CZ05WQkFvTUJuQmxiM0JzWlRFUk1BOEdBMVVFQXd3SWMyOXRaV0p2WkhrdwpXVEFUQmdjcWhrak9QUUlCQmdncWhrak9QUU1CQndOQ0FBU3VySlBQMVg0THFyUWx0U1dwOThXUmpQT2tQRGdtCjJObFZvdlQ4OXdFaU5rcHd5RGF4eFpiTzdSWk8rWHRJZXB4MEhia1IvYXBwdXE4MkFyS3J3Q3Arb0FBd0NnWUkKS29aSXpqMEVBd0lEU0FBd1JRSWdmK2tCQ2pLR3Jzcmh5MjNsRlR3QWtlbkFKRE1HY0U3OTYzdXpVdEg3Zk1jQwpJUURRSXlnbmxiNUoxaFFWZkVDSUlxTnBtLzNCVFlnYXMyeDlJRWhIMFVCVThnPT0KLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0tCg=='

export const SAMPLES: Readonly<Record<string, SampleObject>> = {
  '/configmaps': { object: { data: { a: 'b' } } },
  '/endpoints': { object: { subsets: [{ addresses: [{ ip: '192.0.2.7' }], ports: [{ port: 80 }] }] } },
  '/events': {
    object: { involvedObject: { kind: 'Pod', namespace: 'default', name: 'p' }, reason: 'R', type: 'Normal' },
  },
  '/limitranges': { object: { spec: { limits: [{ type: 'Container', default: { cpu: '100m' } }] } } },
  '/namespaces': { status: { phase: 'Active', conditions: [{ type: 'Life', status: 'True' }] } },
  '/nodes': { status: { conditions: [{ type: 'Ready', status: 'True' }] } },
  '/persistentvolumeclaims': {
    object: { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } },
    status: { phase: 'Pending' },
  },
  '/persistentvolumes': {
    object: { spec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' }, hostPath: { path: '/tmp/life' } } },
    status: { phase: 'Available' },
  },
  '/pods': { object: { spec: podSpec }, status: { phase: 'Running' } },
  '/podtemplates': { object: { template } },
  '/replicationcontrollers': {
    object: { spec: { selector: labels, template } },
    status: { replicas: 1, observedGeneration: 1 },
  },
  '/resourcequotas': { object: { spec: { hard: { configmaps: '900' } } }, status: { hard: { configmaps: '900' } } },
  '/secrets': { object: { stringData: { a: 'b' } } },
  '/services': {
    object: { spec: { type: 'LoadBalancer', ports: [{ port: 80 }] } },
    status: { loadBalancer: { ingress: [{ ip: '192.0.2.8', ipMode: 'VIP' }] } },
  },
  'apiregistration.k8s.io/apiservices': {
    name: 'v1.life.example.com',
    object: {
      spec: {
        group: 'life.example.com',
        version: 'v1',
        groupPriorityMinimum: 1000,
        versionPriority: 10,
        insecureSkipTLSVerify: true,
        service: { namespace: 'default', name: 'nobody' },
      },
    },
  },
  'apps/controllerrevisions': { object: { revision: 1, data: { a: 'b' } } },
  'apps/daemonsets': { object: { spec: { selector, template } }, status: { observedGeneration: 1 } },
  'apps/deployments': { object: { spec: { selector, template } }, status: { replicas: 1 } },
  'apps/replicasets': { object: { spec: { selector, template } }, status: { replicas: 1 } },
  'apps/statefulsets': { object: { spec: { selector, template, serviceName: 's' } }, status: { replicas: 1 } },
  'events.k8s.io/events': {
    object: {
      regarding: { kind: 'Pod', namespace: 'default', name: 'p' },
      eventTime,
      reportingController: 'life.example.com/c',
      reportingInstance: 'c-1',
      action: 'A',
      reason: 'R',
      type: 'Normal',
    },
  },
  'autoscaling/horizontalpodautoscalers': {
    object: { spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' } } },
    status: { currentReplicas: 1, desiredReplicas: 2 },
  },
  'batch/cronjobs': {
    object: {
      spec: {
        schedule: '* * * * *',
        jobTemplate: { spec: { template: { spec: { ...podSpec, restartPolicy: 'Never' } } } },
      },
    },
    status: { lastScheduleTime: '2026-01-01T00:00:00Z' },
  },
  'batch/jobs': {
    object: { spec: { template: { spec: { ...podSpec, restartPolicy: 'Never' } } } },
    status: { active: 1, startTime: '2026-01-01T00:00:00Z' },
  },
  'certificates.k8s.io/certificatesigningrequests': {
    object: { spec: { request: SIGNING_REQUEST, signerName: 'life.example.com/s', usages: ['client auth'] } },
  },
  'networking.k8s.io/ingressclasses': { object: { spec: { controller: 'life.example.com/c' } } },
  'networking.k8s.io/ingresses': {
    object: { spec: { defaultBackend: { service: { name: 's', port: { number: 80 } } } } },
    status: { loadBalancer: { ingress: [{ ip: '192.0.2.9' }] } },
  },
  'networking.k8s.io/ipaddresses': {
    name: '192.0.2.77',
    object: { spec: { parentRef: { group: 'life.example.com', resource: 'things', name: 'a' } } },
  },
  'networking.k8s.io/networkpolicies': { object: { spec: { podSelector: {} } } },
  'networking.k8s.io/servicecidrs': {
    object: { spec: { cidrs: ['10.200.0.0/28'] } },
    status: {
      conditions: [
        { type: 'Ready', status: 'False', reason: 'Life', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' },
      ],
    },
  },
  'policy/poddisruptionbudgets': { object: { spec: { minAvailable: 1, selector } }, status: { currentHealthy: 1 } },
  'rbac.authorization.k8s.io/clusterrolebindings': {
    object: {
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
      subjects: [subject],
    },
  },
  'rbac.authorization.k8s.io/clusterroles': { object: { rules: [] } },
  'rbac.authorization.k8s.io/rolebindings': {
    object: {
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
      subjects: [subject],
    },
  },
  'rbac.authorization.k8s.io/roles': { object: { rules: [] } },
  'storage.k8s.io/csidrivers': { object: { spec: {} } },
  'storage.k8s.io/csinodes': { object: { spec: { drivers: [] } } },
  'storage.k8s.io/csistoragecapacities': { object: { storageClassName: 's' } },
  'storage.k8s.io/storageclasses': { object: { provisioner: 'life.example.com/p' } },
  'storage.k8s.io/volumeattachments': {
    object: { spec: { attacher: 'life.example.com', nodeName: 'n', source: { persistentVolumeName: 'p' } } },
    status: { attached: true },
  },
  'storage.k8s.io/volumeattributesclasses': { object: { driverName: 'life.example.com', parameters: { a: 'b' } } },
  'admissionregistration.k8s.io/mutatingadmissionpolicies': {
    object: {
      spec: {
        reinvocationPolicy: 'Never',
        matchConstraints,
        mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression: 'Object{}' } }],
      },
    },
  },
  'admissionregistration.k8s.io/mutatingadmissionpolicybindings': { object: { spec: { policyName: 'none' } } },
  'admissionregistration.k8s.io/mutatingwebhookconfigurations': { object: { webhooks: [webhook] } },
  'admissionregistration.k8s.io/validatingadmissionpolicies': {
    object: { spec: { matchConstraints, validations: [{ expression: 'true' }] } },
    status: { observedGeneration: 1 },
  },
  'admissionregistration.k8s.io/validatingadmissionpolicybindings': {
    object: { spec: { policyName: 'none', validationActions: ['Deny'] } },
  },
  'admissionregistration.k8s.io/validatingwebhookconfigurations': { object: { webhooks: [webhook] } },
  'apiextensions.k8s.io/customresourcedefinitions': {
    name: 'lives.life.example.com',
    object: {
      spec: {
        group: 'life.example.com',
        scope: 'Namespaced',
        names: { plural: 'lives', singular: 'life', kind: 'Life', listKind: 'LifeList' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
      },
    },
  },
  'scheduling.k8s.io/priorityclasses': { object: { value: 7 } },
  'coordination.k8s.io/leases': { object: { spec: { holderIdentity: 'h' } } },
  'node.k8s.io/runtimeclasses': { object: { handler: 'h' } },
  'discovery.k8s.io/endpointslices': { object: { addressType: 'IPv4', endpoints: [{ addresses: ['192.0.2.7'] }] } },
  'resource.k8s.io/deviceclasses': { object: { spec: {} } },
  'resource.k8s.io/resourceclaims': { object: { spec: { devices: device } } },
  'resource.k8s.io/resourceclaimtemplates': { object: { spec: { spec: { devices: device } } } },
  'resource.k8s.io/resourceslices': {
    object: {
      spec: { driver: 'life.example.com', nodeName: 'n', pool: { name: 'p', generation: 1, resourceSliceCount: 1 } },
    },
  },
  'flowcontrol.apiserver.k8s.io/flowschemas': {
    object: {
      spec: {
        matchingPrecedence: 9000,
        priorityLevelConfiguration: { name: 'global-default' },
        rules: [
          {
            subjects: [{ kind: 'User', user: { name: 'somebody' } }],
            nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/life'] }],
          },
        ],
      },
    },
  },
  'flowcontrol.apiserver.k8s.io/prioritylevelconfigurations': {
    object: { spec: { type: 'Limited', limited: { nominalConcurrencyShares: 1, limitResponse: { type: 'Reject' } } } },
  },
}
