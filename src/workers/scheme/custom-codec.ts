/**
 * Thread: pool, owner. Custom objects as they are stored, byte for byte as kube-apiserver stores them: JSON by key, in the storage
 * version. What is read may have been stored in another version, or before the schema had its defaults: it is pruned and defaulted
 * by the version that it was stored in, and then converted. Where a webhook converts, it stays in the version that it was stored in:
 * a webhook is asked by who reads (registry/generic/converting-storage.ts), not by a codec.
 */
import { formatGroupVersion, parseGroupVersion } from '../../api/group-version.js'
import { cutUntyped, encodeUntyped } from '../../api/json/encode.js'
import { printedAround, withoutRevision } from '../../api/json/encode-draft.js'
import { parseJson } from '../../api/json/parse.js'
import { isJsonObject, type Json, type JsonObject, type KubeObject } from '../../api/object.js'
import type { ResourceDefinition } from '../../api/resource-definition.js'
import { newUnknown } from '../../api/status.js'
import type { CompiledSchema } from '../../apiextensions/schema/interface.js'
import type { Codec, EncodedObject } from '../../storage/contract/interface.js'

export class CustomCodec implements Codec<KubeObject> {
  readonly #definition: ResourceDefinition
  readonly #schemaOf: (version: string) => CompiledSchema | undefined
  readonly #apiVersion: string

  constructor(definition: ResourceDefinition, schemaOf: (version: string) => CompiledSchema | undefined) {
    this.#definition = definition
    this.#schemaOf = schemaOf
    this.#apiVersion = formatGroupVersion({ group: definition.group, version: definition.storageVersion })
  }

  encode(object: KubeObject): Uint8Array {
    const stored = object.apiVersion === this.#apiVersion ? object : { ...object, apiVersion: this.#apiVersion }
    return Buffer.from(`${encodeUntyped(stored as unknown as Json)}\n`)
  }

  /** What is stored is what is shown, less the revision: one print makes both, unless reading would put defaults in. */
  encodePrinted(object: KubeObject): EncodedObject {
    const { kind, storageVersion } = this.#definition
    const schema = object.apiVersion === this.#apiVersion && object.kind === kind && this.#schemaOf(storageVersion)
    if (!schema) return { data: this.encode(object) }
    const cut = cutUntyped(object as JsonObject, 'resourceVersion')
    const data = Buffer.from(`${withoutRevision(cut)}\n`)
    const { changed } = schema.admit(object as JsonObject, { origin: 'stored' })
    return changed ? { data } : { data, printed: printedAround(cut) }
  }

  decode(bytes: Uint8Array): KubeObject {
    const { value } = parseJson(bytes)
    if (!isJsonObject(value)) throw new Error('what is stored is no object')
    return this.fromStored(value)
  }

  /** Makes of a stored tree, in place, the object in the storage version, or in its own where a webhook converts. */
  fromStored(tree: JsonObject): KubeObject {
    const { kind, group, storageVersion } = this.#definition
    if (tree['kind'] !== kind) throw new Error(`a ${String(tree['kind'])} is stored where a ${kind} should be`)
    const stored = parseGroupVersion(String(tree['apiVersion'] ?? ''))
    const schema = stored?.group === group ? this.#schemaOf(stored.version) : undefined
    if (schema === undefined || stored === undefined)
      throw newUnknown(`request to convert CR from an invalid group/version: ${String(tree['apiVersion'])}`)
    schema.admit(tree, { origin: 'stored' })
    if (stored.version === storageVersion || this.#definition.convertsByWebhook === true) return tree as KubeObject
    tree['apiVersion'] = this.#apiVersion
    this.#schemaOf(storageVersion)?.admit(tree, { origin: 'converted' })
    return tree as KubeObject
  }
}
