import type { RecordDraft } from '#keelson/protocol/record-draft.js'

/** An object as the pool makes it, with room in it for the revision. */
export function draft(
  name: string,
  options: Partial<{ node: string; labels: string[]; filler: string }> = {},
): RecordDraft {
  const { node = '', labels = ['app', 'web'], filler = '' } = options
  const before = `{"metadata":{"name":"${name}","resourceVersion":"`
  const body = Buffer.from(`${before}"},"filler":"${filler}"}`)
  const fields = ['metadata.name', name, 'spec.nodeName', node]
  return { uid: `uid-${name}`, labels, fields, body, revisionOffset: Buffer.byteLength(before) }
}

export function text(body: Uint8Array): string {
  return Buffer.from(body).toString()
}
