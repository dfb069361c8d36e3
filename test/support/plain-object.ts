import type { KubeObject } from '#keelson/api/object.js'
import type { RecordDraft } from '#keelson/protocol/record-draft.js'

/** What an object stored as JSON looks like in shared memory: the simplest draft there is. */
export function jsonDraft(data: Uint8Array, key: string): RecordDraft {
  const object = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(data)) as KubeObject
  return draftOf(object, key)
}

export function draftOf(object: KubeObject, key: string): RecordDraft {
  const metadata = { resourceVersion: '', ...object.metadata }
  metadata.resourceVersion = ''
  // The version goes first, so that its place does not depend on what a label may contain.
  const { resourceVersion, ...rest } = metadata
  const body = JSON.stringify({ metadata: { resourceVersion, ...rest }, ...withoutMetadata(object) })
  const marker = '{"metadata":{"resourceVersion":"'
  return {
    uid: metadata.uid ?? '',
    labels: pairs(metadata.labels ?? {}),
    fields: pairs({
      'metadata.name': metadata.name ?? key.slice(key.lastIndexOf('/') + 1),
      'metadata.namespace': metadata.namespace ?? '',
      'spec.nodeName': (object['spec'] as { nodeName?: string } | undefined)?.nodeName ?? '',
    }),
    body: Buffer.from(body),
    revisionOffset: marker.length,
  }
}

function withoutMetadata({ metadata: _, ...rest }: KubeObject): object {
  return rest
}

function pairs(values: Record<string, string>): string[] {
  return Object.entries(values)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flat()
}
