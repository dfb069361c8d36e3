/** Thread: pool. The chain of admission plugins: those that are turned on, in Kubernetes' order. */
import { AdmissionMetrics } from '../../admission/admission-metrics.js'
import { AdmissionChain, type AdmissionPlugin } from '../../admission/chain.js'
import type { AdmissionObjects, AdmissionWriter } from '../../admission/objects.js'
import { Permissions } from '../../admission/permissions.js'
import { enabledPlugins, type PluginName } from '../../admission/plugin-names.js'
import { AlwaysAdmit } from '../../admission/plugins/always-admit.js'
import { AlwaysDeny } from '../../admission/plugins/always-deny.js'
import { AlwaysPullImages } from '../../admission/plugins/always-pull-images.js'
import { certificateApproval, certificateSigning } from '../../admission/plugins/certificate-signer.js'
import { CertificateSubjectRestriction } from '../../admission/plugins/certificate-subject-restriction.js'
import { ClusterTrustBundleAttest } from '../../admission/plugins/cluster-trust-bundle-attest.js'
import { DefaultIngressClass } from '../../admission/plugins/default-ingress-class.js'
import { DefaultStorageClass } from '../../admission/plugins/default-storage-class.js'
import { DefaultTolerationSeconds } from '../../admission/plugins/default-toleration-seconds.js'
import { DenyServiceExternalIPs } from '../../admission/plugins/deny-service-external-ips.js'
import { EventRateLimit } from '../../admission/plugins/event-rate-limit.js'
import { ExtendedResourceToleration } from '../../admission/plugins/extended-resource-toleration.js'
import { LimitPodHardAntiAffinityTopology } from '../../admission/plugins/limit-pod-hard-anti-affinity-topology.js'
import { LimitRanger } from '../../admission/plugins/limit-ranger.js'
import { NamespaceAutoProvision } from '../../admission/plugins/namespace-auto-provision.js'
import { NamespaceExists } from '../../admission/plugins/namespace-exists.js'
import { NamespaceLifecycle } from '../../admission/plugins/namespace-lifecycle.js'
import { NodeDeclaredFeatureValidator } from '../../admission/plugins/node-declared-feature-validator.js'
import { NodeRestriction } from '../../admission/plugins/node-restriction.js'
import {
  type KindResources,
  OwnerReferencesPermissionEnforcement,
} from '../../admission/plugins/owner-references-permission-enforcement.js'
import { PersistentVolumeClaimResize } from '../../admission/plugins/persistent-volume-claim-resize.js'
import { PodNodeSelector } from '../../admission/plugins/pod-node-selector.js'
import { PodResizeValidator } from '../../admission/plugins/pod-resize-validator.js'
import { PodSecurity } from '../../admission/plugins/pod-security/pod-security.js'
import { PodTolerationRestriction } from '../../admission/plugins/pod-toleration-restriction.js'
import { PodTopologyLabels } from '../../admission/plugins/pod-topology-labels.js'
import { Priority } from '../../admission/plugins/priority.js'
import { QuotaLedger, type QuotaStatusStore } from '../../admission/plugins/quota/quota-ledger.js'
import { ResourceQuota } from '../../admission/plugins/quota/resource-quota.js'
import { RuntimeClass } from '../../admission/plugins/runtime-class.js'
import { ServiceAccount } from '../../admission/plugins/service-account.js'
import { StorageObjectInUseProtection } from '../../admission/plugins/storage-object-in-use-protection.js'
import { TaintNodesByCondition } from '../../admission/plugins/taint-nodes-by-condition.js'
import type { Authorizer } from '../../auth/interface.js'
import type { Clock } from '../../lib/clock.js'
import type { Random } from '../../lib/jitter.js'
import type { Recorder } from '../../metrics/recorder.js'
import type { AdmissionStart } from '../../protocol/pool-start.js'
import type { Scheme } from '../scheme/scheme.js'
import type { PolicyPlugins } from './policy-plugins.js'
import type { WebhookPlugins } from './webhook-plugins.js'

export interface AdmissionDependencies {
  readonly start: AdmissionStart
  readonly objects: AdmissionObjects
  readonly writer: AdmissionWriter
  readonly quotaStatus: QuotaStatusStore
  readonly authorizer: Authorizer | undefined
  readonly scheme: Pick<Scheme, 'catalogue'>
  readonly clock: Clock
  readonly random: Random
  readonly recorder: Recorder
  readonly policies: PolicyPlugins
  readonly webhooks: WebhookPlugins
}

type Makers = Readonly<Record<PluginName, (dependencies: AdmissionDependencies) => AdmissionPlugin>>

const MAKERS: Makers = {
  AlwaysAdmit: () => new AlwaysAdmit(),
  NamespaceAutoProvision: ({ objects, writer }) => new NamespaceAutoProvision(objects, writer),
  NamespaceLifecycle: ({ objects, clock }) => new NamespaceLifecycle(objects, clock),
  NamespaceExists: ({ objects }) => new NamespaceExists(objects),
  LimitPodHardAntiAffinityTopology: () => new LimitPodHardAntiAffinityTopology(),
  LimitRanger: ({ objects }) => new LimitRanger(objects),
  ServiceAccount: ({ objects, writer, random, clock, start }) =>
    new ServiceAccount({ objects, writer: start.makesAccounts ? writer : undefined, clock, random }),
  NodeRestriction: ({ objects, authorizer }) => new NodeRestriction(objects, new Permissions(authorizer)),
  TaintNodesByCondition: () => new TaintNodesByCondition(),
  AlwaysPullImages: () => new AlwaysPullImages(),
  PodSecurity: ({ objects, start }) => new PodSecurity(objects, start.config['PodSecurity']),
  PodNodeSelector: ({ objects, start }) => new PodNodeSelector(objects, start.config['PodNodeSelector']),
  Priority: ({ objects }) => new Priority(objects),
  DefaultTolerationSeconds: ({ start }) => new DefaultTolerationSeconds(start.tolerationSeconds),
  PodTolerationRestriction: ({ objects, start }) =>
    new PodTolerationRestriction(objects, start.config['PodTolerationRestriction']),
  EventRateLimit: ({ start, clock }) => new EventRateLimit(start.config['EventRateLimit'] ?? {}, clock, start.threads),
  ExtendedResourceToleration: () => new ExtendedResourceToleration(),
  DefaultStorageClass: ({ objects }) => new DefaultStorageClass(objects),
  StorageObjectInUseProtection: () => new StorageObjectInUseProtection(),
  OwnerReferencesPermissionEnforcement: ({ authorizer, scheme }) =>
    new OwnerReferencesPermissionEnforcement(new Permissions(authorizer), resourcesOf(scheme)),
  PersistentVolumeClaimResize: ({ objects }) => new PersistentVolumeClaimResize(objects),
  RuntimeClass: ({ objects }) => new RuntimeClass(objects),
  CertificateApproval: ({ authorizer }) => certificateApproval(new Permissions(authorizer)),
  CertificateSigning: ({ authorizer }) => certificateSigning(new Permissions(authorizer)),
  ClusterTrustBundleAttest: ({ authorizer }) => new ClusterTrustBundleAttest(new Permissions(authorizer)),
  CertificateSubjectRestriction: () => new CertificateSubjectRestriction(),
  DefaultIngressClass: ({ objects }) => new DefaultIngressClass(objects),
  DenyServiceExternalIPs: () => new DenyServiceExternalIPs(),
  PodTopologyLabels: ({ objects }) => new PodTopologyLabels(objects),
  NodeDeclaredFeatureValidator: ({ objects }) => new NodeDeclaredFeatureValidator(objects),
  PodResizeValidator: ({ objects }) => new PodResizeValidator(objects),
  MutatingAdmissionPolicy: ({ policies }) => policies.mutating(),
  MutatingAdmissionWebhook: ({ webhooks }) => webhooks.mutating(),
  ValidatingAdmissionPolicy: ({ policies }) => policies.validating(),
  ValidatingAdmissionWebhook: ({ webhooks }) => webhooks.validating(),
  ResourceQuota: (dependencies) => resourceQuota(dependencies),
  AlwaysDeny: () => new AlwaysDeny(),
}

export function admissionChain(dependencies: AdmissionDependencies): AdmissionChain {
  const { start, recorder, clock } = dependencies
  return new AdmissionChain(
    enabledPlugins(start.enable, start.disable).map((name) => MAKERS[name](dependencies)),
    new AdmissionMetrics(recorder, clock),
  )
}

function resourceQuota({ start, objects, quotaStatus, scheme, clock }: AdmissionDependencies): ResourceQuota {
  const ledger = new QuotaLedger({
    objects,
    store: quotaStatus,
    clock,
    served: ({ group, resource }) => {
      const { catalogue } = scheme
      const version = catalogue.versions(group).find((one) => catalogue.find(group, one, resource) !== undefined)
      return version === undefined ? undefined : { group, version, resource }
    },
  })
  return new ResourceQuota(objects, ledger, start.config['ResourceQuota'])
}

const resourcesOf =
  (scheme: Pick<Scheme, 'catalogue'>): KindResources =>
  ({ group, version }, kind) =>
    scheme.catalogue
      .resourcesOf(group, version)
      .filter((info) => info.kind === kind)
      .map(({ resource, namespaced }) => ({ resource: { group, version, resource }, namespaced }))
