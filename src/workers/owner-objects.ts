/**
 * Thread: owner. How the owner reads the built-in resources: decryption, then drafts. What the embedded engine holds was
 * written by this server, so JSON of the hub version is only scanned; anything else is decoded as the pool would.
 */
import { formatGroupVersion, parseGroupResource } from '../api/group-version.js'
import { encodeDraft } from '../api/json/encode-draft.js'
import { recordDraft } from '../api/json/record-scan.js'
import { assert } from '../lib/assert.js'
import type { RecordDraft } from '../protocol/record-draft.js'
import type { EtcdOptions } from '../storage/factory-options.js'
import { resolveStorageType } from '../storage/storage-config.js'
import { identityTransformer } from '../storage/transformer.js'
import type { OwnerResources } from './owner-resources.js'
import { openScheme, type Scheme } from './scheme.js'
import { openTransformers } from './transformers.js'

export async function openOwnerResources(options: unknown): Promise<OwnerResources> {
  const { etcdOptions } = options as { etcdOptions: EtcdOptions }
  const transformers = await openTransformers(etcdOptions)
  const scheme = openScheme(etcdOptions, transformers?.transformers)
  const isEmbedded = resolveStorageType(etcdOptions.storageBackend, etcdOptions.etcdServers) === 'embedded'
  return {
    transformer: ({ resource }) =>
      transformers?.transformers.transformerForResource(parseGroupResource(resource)) ?? identityTransformer,
    recordDraft: ({ resource }) => builtinDrafts(scheme, resource, isEmbedded),
    ...(transformers === undefined ? {} : { close: () => transformers.close() }),
  }
}

export function builtinDrafts(
  { stored, schemas, storageFactory }: Pick<Scheme, 'stored' | 'schemas' | 'storageFactory'>,
  name: string,
  scansJson: boolean,
): (data: Uint8Array) => RecordDraft {
  const resource = stored.get(name)
  assert(resource !== undefined, `${name} is not stored`)
  const { info, fields, groupResource } = resource
  const schema = schemas.kind(info.group, info.version, info.kind)
  assert(schema !== undefined, `there is no schema of ${name}`)
  const { codec } = storageFactory.newConfig(groupResource)
  const head = Buffer.from(`{"kind":${JSON.stringify(info.kind)},"apiVersion":"${formatGroupVersion(info)}",`)
  return (data) => {
    if (scansJson && head.equals(data.subarray(0, head.length))) return recordDraft(data, fields)
    return encodeDraft(codec.decode(data), schema, fields)
  }
}
