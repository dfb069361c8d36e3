/**
 * Thread: owner. How the owner reads objects: decryption, then drafts. What the embedded engine holds was written by this
 * server, and objects of defined resources are what was written whoever wrote it, so JSON of the hub version is only
 * scanned; anything else is decoded as the pool would.
 */
import { formatGroupVersion, parseGroupResource } from '../api/group-version.js'
import { encodeDraft } from '../api/json/encode-draft.js'
import { recordDraft } from '../api/json/record-scan.js'
import { assert } from '../lib/assert.js'
import type { Recorder } from '../metrics/recorder.js'
import type { RecordDraft } from '../protocol/record-draft.js'
import { rulesOf } from '../registry/rules-table.js'
import { identityTransformer } from '../storage/contract/transformer.js'
import { resolveStorageType } from '../storage/factory/storage-config.js'
import type { OwnerResources } from './owner/owner-resources.js'
import { openTransformers } from './pool/transformers.js'
import { Scheme, type SchemeOptions } from './scheme/scheme.js'

export async function openOwnerResources(options: unknown, recorder: Recorder): Promise<OwnerResources> {
  const schemeOptions = options as SchemeOptions
  const { etcdOptions } = schemeOptions
  const transformers = await openTransformers(etcdOptions, recorder)
  const scheme = new Scheme(schemeOptions, transformers?.transformers, rulesOf)
  const isEmbedded = resolveStorageType(etcdOptions.storageBackend, etcdOptions.etcdServers) === 'embedded'
  return {
    transformer: ({ resource }) =>
      transformers?.transformers.transformerForResource(parseGroupResource(resource)) ?? identityTransformer,
    recordDraft: ({ resource, definition }) => {
      if (definition !== undefined) scheme.apply({ type: 'set', definition })
      return draftsOf(scheme, resource, isEmbedded || definition !== undefined)
    },
    removed: ({ definition }) => {
      if (definition !== undefined) scheme.apply({ type: 'remove', groupResource: definition })
    },
    ...(transformers === undefined ? {} : { close: () => transformers.close() }),
  }
}

export function draftsOf(scheme: Scheme, name: string, scansJson: boolean): (data: Uint8Array) => RecordDraft {
  const resource = scheme.stored(name)
  assert(resource !== undefined, `${name} is not stored`)
  const { info, fields, groupResource } = resource
  const schema = scheme.kind(info.group, info.version, info.kind)
  assert(schema !== undefined, `there is no schema of ${name}`)
  const { codec } = scheme.newConfig(groupResource)
  const apiVersion = JSON.stringify(formatGroupVersion(info))
  const kind = JSON.stringify(info.kind)
  // Built-in types print in the order of their declaration, defined ones by key.
  const head = Buffer.from(
    info.definitionHash === undefined
      ? `{"kind":${kind},"apiVersion":${apiVersion},`
      : `{"apiVersion":${apiVersion},"kind":${kind},`,
  )
  return (data) => {
    if (scansJson && head.equals(data.subarray(0, head.length))) return recordDraft(data, fields)
    return encodeDraft(codec.decode(data), schema, fields)
  }
}
