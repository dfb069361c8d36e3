/** Thread: pool. Which endpoints have a handler of their own. */
import type { ServiceAccountTokenIssuer } from '../../../auth/authn/service-account-tokens.js'
import type { Authorizer, RuleResolver } from '../../../auth/interface.js'
import { accessReviewRows } from './access-reviews.js'
import { legacyBindingRow, podBindingRow } from './binding.js'
import { componentStatusRow, httpsProbe, storageProbe } from './component-statuses.js'
import { evictionRow } from './eviction.js'
import type { HandlerTable } from './handler.js'
import { type IdentityReviewsOptions, identityReviewRows } from './identity-reviews.js'
import { namespaceRow } from './namespace-deletion.js'
import { controllerScaleRow, scaleRow } from './scale.js'
import { tokenRow } from './token-request.js'

const CONTROLLER_MANAGER_PORT = 10_257
const SCHEDULER_PORT = 10_259

export interface HandlerEnvironment {
  /** One for each storage cluster: etcd-0, etcd-1, … */
  readonly storageProbes: readonly (() => Promise<void>)[]
  readonly tokenIssuer: ServiceAccountTokenIssuer
  /** Answers questions about identity. */
  readonly identity: IdentityReviewsOptions
  /** Answers questions about access. */
  readonly authorizer: Authorizer & RuleResolver
}

export function handlerTable({ storageProbes, tokenIssuer, identity, authorizer }: HandlerEnvironment): HandlerTable {
  return {
    ...accessReviewRows(authorizer),
    ...identityReviewRows(identity),
    bindings: legacyBindingRow,
    componentstatuses: componentStatusRow({
      ...Object.fromEntries(storageProbes.map((probe, i) => [`etcd-${i}`, storageProbe(probe)])),
      'controller-manager': httpsProbe(CONTROLLER_MANAGER_PORT, '/healthz'),
      scheduler: httpsProbe(SCHEDULER_PORT, '/healthz'),
    }),
    'deployments.apps/scale': scaleRow,
    namespaces: namespaceRow,
    'pods/binding': podBindingRow,
    'pods/eviction': evictionRow,
    'replicasets.apps/scale': scaleRow,
    'replicationcontrollers/scale': controllerScaleRow,
    'statefulsets.apps/scale': scaleRow,
    'serviceaccounts/token': tokenRow(tokenIssuer),
  }
}
