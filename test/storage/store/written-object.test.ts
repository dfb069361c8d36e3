import t from 'tap'
import { identityTransformer } from '#keelson/storage/contract/transformer.js'
import { objectVersioner } from '#keelson/storage/contract/versioner.js'
import { StoredObjects } from '#keelson/storage/store/stored-object.js'
import { isSameText, writtenObject } from '#keelson/storage/store/written-object.js'
import { makePod, type Pod, podCodec } from '../../contract/pod.js'

const objects = new StoredObjects<Pod>({
  codec: podCodec,
  transformer: identityTransformer,
  versioner: objectVersioner,
  newObject: () => ({}),
})
const print = (pod: Pod) => ({ head: `read ${pod.metadata?.name} `, tail: '' })
const draftOf = (pod: Pod, { head, tail }: { readonly head: string; readonly tail: string }) => ({
  uid: pod.metadata?.uid ?? '',
  labels: [],
  fields: [],
  body: Buffer.from(head + tail),
  revisionOffset: head.length,
})
const drafts = { isOneText: true, print, draftOf }

t.test('what nobody has printed is read from its bytes and printed once', (t) => {
  const given = makePod('foo', 'ns')
  const written = writtenObject({ objects, drafts }, '/pods/ns/foo', given, objects.encodePrinted(given))
  t.not(written.object, given)
  t.same(written.object, given)
  t.equal(written.printed?.head, 'read foo ')
  t.equal(Buffer.from(written.draft?.body ?? []).toString(), 'read foo ')
  t.equal(writtenObject({ objects, drafts: undefined }, '/k', given, { data: written.data }).draft, undefined)
  t.end()
})

t.test('what the codec has printed is neither read nor printed again', (t) => {
  const given = makePod('foo', 'ns')
  const printed = { head: 'known', tail: '!' }
  const written = writtenObject({ objects, drafts }, '/k', given, { data: podCodec.encode(given), printed })
  t.equal(written.object, given)
  t.equal(written.printed, printed)
  t.equal(Buffer.from(written.draft?.body ?? []).toString(), 'known!')
  t.end()
})

t.test('what the codec says will be read as it is, is not read, and printed once', (t) => {
  const given = makePod('foo', 'ns')
  const written = writtenObject({ objects, drafts }, '/k', given, { data: podCodec.encode(given), isAsRead: true })
  t.equal(written.object, given)
  t.equal(written.printed?.head, 'read foo ')
  t.end()
})

t.test('texts are the same when they differ in the digits of their revision alone', (t) => {
  const draft = draftOf(makePod('foo', 'ns'), { head: '{"resourceVersion":"', tail: '","a":"1"}' })
  const same = (text: string): boolean => isSameText(draft, Buffer.from(text))
  t.ok(same('{"resourceVersion":"17","a":"1"}'))
  t.ok(same('{"resourceVersion":"","a":"1"}'))
  t.notOk(same('{"resourceVersion":"17","a":"2"}'))
  t.notOk(same('{"resourceversion":"17","a":"1"}'))
  t.notOk(same('{"resourceVersion":"1","b":"2","a":"1"}'), 'what is no digit is no revision')
  t.notOk(same('{}'))
  t.end()
})
