/**
 * Thread: owner, and the threads that decode beside it. Drafts of stored objects of built-in resources. What the embedded engine holds was
 * written by this server, so JSON of the memory version is only scanned; anything else is decoded as the pool would.
 */
import { formatGroupVersion } from '../../api/group-version.js'
import { encodeDraft } from '../../api/json/encode-draft.js'
import { recordDraft } from '../../api/json/record-scan.js'
import { assert } from '../../lib/assert.js'
import type { RecordDraft } from '../../protocol/record-draft.js'
import { rulesOf } from '../../registry/rules-table.js'
import { resolveStorageType } from '../../storage/factory/storage-config.js'
import { Scheme, type SchemeOptions } from './scheme.js'

/** For threads that decode objects beside the owner: makers of drafts of the resources that are built in, by name. */
export function storedDrafts(options: unknown): (resource: string) => (data: Uint8Array) => RecordDraft {
  const schemeOptions = options as SchemeOptions
  const scheme = new Scheme(schemeOptions, undefined, rulesOf, () => undefined)
  const scansJson = isEmbedded(schemeOptions)
  const makers = new Map<string, (data: Uint8Array) => RecordDraft>()
  return (resource) => {
    const known = makers.get(resource) ?? draftsOf(scheme, resource, scansJson)
    makers.set(resource, known)
    return known
  }
}

export const isEmbedded = ({ etcdOptions }: SchemeOptions): boolean =>
  resolveStorageType(etcdOptions.storageBackend, etcdOptions.etcdServers) === 'embedded'

export function draftsOf(scheme: Scheme, name: string, scansJson: boolean): (data: Uint8Array) => RecordDraft {
  const resource = scheme.stored(name)
  assert(resource !== undefined, `${name} is not stored`)
  const { info, fields, groupResource } = resource
  const schema = scheme.kind(info.group, info.version, info.kind)
  assert(schema !== undefined, `there is no schema of ${name}`)
  const { codec } = scheme.newConfig(groupResource)
  const apiVersion = JSON.stringify(formatGroupVersion(info))
  const kind = JSON.stringify(info.kind)
  const head = Buffer.from(`{"kind":${kind},"apiVersion":${apiVersion},`)
  return (data) => {
    if (scansJson && head.equals(data.subarray(0, head.length))) return recordDraft(data, fields)
    return encodeDraft(codec.decode(data), schema, fields)
  }
}
