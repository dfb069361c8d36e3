import t from 'tap'
import { packBytes, packDrafts, unpackBytes, unpackDrafts } from '#keelson/protocol/owner-drafts.js'

t.test('bytes come out in their parts, empty ones too', (t) => {
  const parts = ['one', '', 'three', ''].map((text) => Buffer.from(text))
  t.same(
    unpackBytes(packBytes(parts)).map((part) => Buffer.from(part).toString()),
    ['one', '', 'three', ''],
  )
  t.same(unpackBytes(packBytes([])), [])
  t.end()
})

t.test('drafts come out as they were, and those that could not be made stay away', (t) => {
  const draft = (name: string, labels: string[], fields: string[]) => ({
    uid: `uid of ${name}`,
    labels,
    fields,
    body: Buffer.from(`{"name":"${name}"}`),
    revisionOffset: name.length,
  })
  const drafts = [
    draft('a', ['app', 'web', 'tier', 'é'], ['metadata.name', 'a']),
    undefined,
    draft('bb', [], []),
    draft('', [], ['metadata.name', '']),
    undefined,
  ]
  const unpacked = unpackDrafts(structuredClone(packDrafts(drafts)))
  t.same(
    unpacked.map((found) => found && { ...found, body: Buffer.from(found.body) }),
    drafts,
  )
  t.end()
})
