/** Thread: controllers. Every controller that this server has. A new one is added here and in controller-names.ts. */
import { bootstrapSigner } from './bootstrap-signer.js'
import { certificateApproving } from './certificates/approving-controller.js'
import { certificateCleaner } from './certificates/cleaner-controller.js'
import { certificateSigning } from './certificates/signing-controller.js'
import { clusterRoleAggregation } from './cluster-role-aggregation.js'
import { endpointsController } from './endpoints/endpoints-controller.js'
import { endpointSliceController } from './endpoints/endpointslice-controller.js'
import { endpointSliceMirroringController } from './endpoints/endpointslice-mirroring-controller.js'
import type { Controller } from './framework/controller.js'
import { garbageCollector } from './garbage-collector/garbage-collector.js'
import { namespaceController } from './namespace-controller.js'
import { persistentVolumeClaimProtection } from './persistent-volume-claim-protection.js'
import { persistentVolumeProtection } from './persistent-volume-protection.js'
import { podGarbageCollector } from './pod-garbage-collector.js'
import { resourceQuotaController } from './resource-quota-controller.js'
import { rootCaCertificatePublisher } from './root-ca-certificate-publisher.js'
import { serviceAccountController } from './service-account-controller.js'
import { tokenCleaner } from './token-cleaner.js'
import { ttlAfterFinished } from './ttl-after-finished.js'
import { validatingAdmissionPolicyStatus } from './validating-admission-policy-status.js'

export const CONTROLLERS: readonly Controller[] = [
  bootstrapSigner,
  certificateApproving,
  certificateCleaner,
  certificateSigning,
  clusterRoleAggregation,
  endpointsController,
  endpointSliceController,
  endpointSliceMirroringController,
  garbageCollector,
  namespaceController,
  persistentVolumeClaimProtection,
  persistentVolumeProtection,
  podGarbageCollector,
  resourceQuotaController,
  rootCaCertificatePublisher,
  serviceAccountController,
  tokenCleaner,
  ttlAfterFinished,
  validatingAdmissionPolicyStatus,
]
