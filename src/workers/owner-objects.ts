/**
 * Thread: owner. How the owner reads objects: decryption, then drafts. What the embedded engine holds was written by this
 * server, and objects of defined resources are what was written whoever wrote it, so JSON of the memory version is only
 * scanned; anything else is decoded as the pool would.
 */
import { formatGroupVersion, parseGroupResource } from '../api/group-version.js'
import { encodeUntyped } from '../api/json/encode.js'
import { recordDraft } from '../api/json/record-scan.js'
import type { Json } from '../api/object.js'
import type { ResourceDefinition } from '../api/resource-definition.js'
import { CacheClient } from '../cacher/read/cache-client.js'
import { assert } from '../lib/assert.js'
import type { Recorder } from '../metrics/recorder.js'
import type { RecordDraft } from '../protocol/record-draft.js'
import { rulesOf } from '../registry/rules-table.js'
import { identityTransformer } from '../storage/contract/transformer.js'
import type { OwnerResources } from './owner/owner-resources.js'
import { openTransformers } from './pool-worker/transformers.js'
import { DEFINITIONS, definitionReader } from './scheme/definition-reader.js'
import { Scheme, type SchemeOptions } from './scheme/scheme.js'
import { draftsOf, isEmbedded } from './scheme/stored-drafts.js'

export async function openOwnerResources(options: unknown, recorder: Recorder): Promise<OwnerResources> {
  const schemeOptions = options as SchemeOptions
  const { etcdOptions } = schemeOptions
  const transformers = await openTransformers(etcdOptions, recorder)
  let cache: CacheClient | undefined
  const readDefinition = definitionReader(() => cache?.resource(DEFINITIONS) ?? UNKNOWN, etcdOptions.etcdPrefix)
  const scheme = new Scheme(schemeOptions, transformers?.transformers, rulesOf, readDefinition)
  const scansJson = isEmbedded(schemeOptions)
  return {
    transformer: ({ resource }) =>
      transformers?.transformers.transformerForResource(parseGroupResource(resource)) ?? identityTransformer,
    recordDraft: ({ resource, definition }) => {
      if (definition === undefined) return draftsOf(scheme, resource, scansJson)
      scheme.apply({ type: 'set', definition })
      return customDraftsOf(scheme, resource, definition)
    },
    attached: async (port) => {
      cache = await CacheClient.attach(port)
    },
    removed: ({ definition }) => {
      if (definition !== undefined) scheme.apply({ type: 'remove', groupResource: definition })
    },
    ...(transformers === undefined ? {} : { close: () => transformers.close() }),
  }
}

/** Before the owner has a line to its own memory, no definition is known, and nothing is defined. */
const UNKNOWN = { known: () => undefined }

/** Objects that others stored may lack defaults that came later: they get them on their way into memory. */
function customDraftsOf(
  scheme: Scheme,
  name: string,
  definition: ResourceDefinition,
): (data: Uint8Array) => RecordDraft {
  const stored = scheme.stored(name)
  assert(stored !== undefined, `${name} is not stored`)
  const { fields, groupResource } = stored
  const { codec } = scheme.newConfig(groupResource)
  const isKnown = scheme.customVersion(definition, definition.storageVersion) !== undefined
  const { group, storageVersion: version, convertsByWebhook, mixesVersions } = definition
  const isUniform = convertsByWebhook === true && mixesVersions !== true
  return (data) => {
    if (!isKnown) return recordDraft(data, fields)
    const object = codec.decode(data)
    // The definition says that nothing is stored in other versions. The pool, which can ask the webhook, answers for the resource.
    if (isUniform && object.apiVersion !== formatGroupVersion({ group, version }))
      throw new Error(`an object is stored in ${object.apiVersion}, which is none of the stored versions`)
    return recordDraft(Buffer.from(encodeUntyped(object as unknown as Json)), fields)
  }
}
