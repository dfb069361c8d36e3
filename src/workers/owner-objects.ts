/** Thread: owner. How the owner reads the built-in resources: decryption, and JSON scanned into drafts. */
import { parseGroupResource } from '../api/group-version.js'
import { recordDraft } from '../api/json/record-scan.js'
import { storedResources } from '../registry/stored-resource.js'
import type { EtcdOptions } from '../storage/factory-options.js'
import { identityTransformer } from '../storage/transformer.js'
import type { OwnerResources } from './owner-resources.js'
import { openScheme } from './scheme.js'
import { openTransformers } from './transformers.js'

export async function openOwnerResources(options: unknown): Promise<OwnerResources> {
  const { etcdOptions } = options as { etcdOptions: EtcdOptions }
  const transformers = await openTransformers(etcdOptions)
  const { catalogue } = openScheme(etcdOptions, transformers?.transformers)
  const fields = new Map(storedResources(catalogue).map((r) => [r.name, r.fields]))
  return {
    transformer: ({ resource }) =>
      transformers?.transformers.transformerForResource(parseGroupResource(resource)) ?? identityTransformer,
    recordDraft: ({ resource }) => {
      const specs = fields.get(resource) ?? []
      return (data) => recordDraft(data, specs)
    },
    ...(transformers === undefined ? {} : { close: () => transformers.close() }),
  }
}
