/** Thread: pool. Writers of webhook configurations are warned of webhooks that cannot be called. */
import type { MutatingWebhookConfiguration } from '../../../api/generated/kinds/admissionregistration.v1.js'
import type { ResourceREST } from '../../generic/resource-rest.js'
import { webhookWarningHooks } from '../../generic/webhook-warnings.js'

/** A validating configuration has the same webhooks, but for a field. */
export const webhookConfigurationREST: ResourceREST<MutatingWebhookConfiguration> = {
  hooks: (dependencies) =>
    webhookWarningHooks(dependencies, ({ webhooks }) =>
      (webhooks ?? []).map(({ name = '', clientConfig = {} }) => [name, clientConfig] as const),
    ),
}
