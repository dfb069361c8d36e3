import t from 'tap'
import { parseFieldSelector } from '#keelson/api/fields.js'
import { parseLabelSelector } from '#keelson/api/label-parser.js'
import { deepCopy, type KubeObject, metadataOf } from '#keelson/api/object.js'
import { everything, MapAttributes } from '#keelson/api/selector.js'
import { newUnknown } from '#keelson/api/status.js'
import type { ObjectConverter } from '#keelson/apiextensions/conversion/interface.js'
import { ConvertingStorage } from '#keelson/registry/generic/converting-storage.js'
import type { ListOptions, SelectionPredicate, WatchStream } from '#keelson/storage/contract/interface.js'
import { FakeClock } from '../../support/fake-clock.js'
import { openJsonStore } from '../../support/json-store.js'
import { MemoryKV } from '../../support/memory-kv.js'

const V1 = 'example.com/v1'
const V2 = 'example.com/v2'

/** spec.size of v1 is spec.length of v2; v2 carries a label that says how long it is. */
class Converter implements ObjectConverter {
  asked: string[] = []
  broken = false

  async convert(objects: readonly KubeObject[], apiVersion: string): Promise<KubeObject[]> {
    return objects.map((object) => this.#one(object, apiVersion))
  }

  convertStored(objects: readonly KubeObject[], apiVersion: string): Promise<KubeObject[]> {
    return this.convert(objects, apiVersion)
  }

  #one(object: KubeObject, apiVersion: string): KubeObject {
    if (object.apiVersion === apiVersion) return object
    if (this.broken) throw newUnknown('conversion webhook failed')
    const copy: KubeObject = { ...deepCopy(object), apiVersion }
    this.asked.push(`${metadataOf(copy).name}→${apiVersion.slice(-2)}`)
    const spec = copy['spec'] as Record<string, unknown>
    const [from, to] = apiVersion === V2 ? ['size', 'length'] : ['length', 'size']
    spec[to!] = spec[from!]
    delete spec[from!]
    metadataOf(copy).labels = apiVersion === V2 ? { length: String(spec['length']) } : { size: String(spec['size']) }
    return copy
  }
}

const widget = (name: string, size: number): KubeObject => ({
  apiVersion: V1,
  kind: 'Widget',
  metadata: { name, labels: { size: String(size) } },
  spec: { size },
})

const predicate = (more: Partial<SelectionPredicate<KubeObject>> = {}): SelectionPredicate<KubeObject> => ({
  label: everything,
  field: everything,
  getAttributes: (object) => ({
    labels: new MapAttributes(metadataOf(object).labels),
    fields: new MapAttributes({
      'metadata.name': metadataOf(object).name ?? '',
      'spec.size': String((object['spec'] as { size?: number }).size ?? ''),
    }),
  }),
  limit: 0,
  continueToken: '',
  allowWatchBookmarks: false,
  ...more,
})

const listed = (more: Partial<SelectionPredicate<KubeObject>> = {}): ListOptions<KubeObject> => ({
  resourceVersion: '',
  resourceVersionMatch: '',
  predicate: predicate(more),
  recursive: true,
})

function open() {
  const converter = new Converter()
  const below = openJsonStore(new MemoryKV(new FakeClock()), '/widgets')
  const at = (apiVersion: string) =>
    new ConvertingStorage({ storage: below, converter, apiVersion, storageApiVersion: V2 })
  return { converter, below, v1: at(V1), v2: at(V2) }
}

t.test('what is written in one version is stored in another and read in both', async (t) => {
  const { below, v1, v2 } = open()
  const created = await v1.create('/widgets/a', widget('a', 3))
  t.match(created, { apiVersion: V1, spec: { size: 3 } })
  t.match(await below.get('/widgets/a'), { apiVersion: V2, spec: { length: 3 } })
  t.match(await v2.get('/widgets/a'), { apiVersion: V2, spec: { length: 3 } })
  t.match(await v1.get('/widgets/a'), { apiVersion: V1, spec: { size: 3 }, metadata: created.metadata })
  const updated = await v1.guaranteedUpdate('/widgets/a', (current) => ({ object: { ...current, spec: { size: 4 } } }))
  t.match(updated, { apiVersion: V1, spec: { size: 4 } })
  t.match(await below.get('/widgets/a'), { apiVersion: V2, spec: { length: 4 } })
  const seen: KubeObject[] = []
  const deleted = await v1.delete('/widgets/a', { validateDeletion: (object) => void seen.push(deepCopy(object)) })
  t.match(seen, [{ apiVersion: V1, spec: { size: 4 } }])
  t.match(deleted, { apiVersion: V1, spec: { size: 4 } })
  t.not(deleted.metadata?.resourceVersion, seen[0]?.metadata?.resourceVersion, 'it has the revision of the deletion')
})

t.test('what was stored in another version is converted by who reads it, and rewritten by who writes it', async (t) => {
  const { below, v1, v2 } = open()
  await below.create('/widgets/old', widget('old', 5))
  t.match(await v2.get('/widgets/old'), { apiVersion: V2, spec: { length: 5 } })
  t.match(await v1.get('/widgets/old'), { apiVersion: V1, spec: { size: 5 } })
  await v2.guaranteedUpdate('/widgets/old', (object) => ({ object }))
  t.match(
    await below.get('/widgets/old'),
    { apiVersion: V2, spec: { length: 5 } },
    'an update that changes nothing migrates it',
  )
})

t.test('nothing is stored that could not be converted', async (t) => {
  const { below, converter, v1, v2 } = open()
  converter.broken = true
  await t.rejects(v1.create('/widgets/a', widget('a', 1)), /conversion webhook failed/)
  await t.rejects(below.get('/widgets/a'), { code: 'key-not-found' })
  converter.broken = false
  await v1.create('/widgets/a', widget('a', 1))
  converter.broken = true
  await t.rejects(v1.get('/widgets/a'), /conversion webhook failed/)
  await t.rejects(v1.getList('/widgets/', listed()), /conversion webhook failed/)
  await t.rejects(
    v1.guaranteedUpdate('/widgets/a', (object) => ({ object })),
    /conversion webhook failed/,
  )
  t.match(await v2.get('/widgets/a'), { apiVersion: V2 }, 'the storage version asks nobody')
})

t.test('a dry run goes there and back', async (t) => {
  const { converter, v1 } = open()
  t.match(await v1.asStored(widget('a', 2)), { apiVersion: V1, spec: { size: 2 } })
  t.same(converter.asked, ['a→v2', 'a→v1'])
})

const namesOf = (items: readonly KubeObject[]): (string | undefined)[] => items.map(({ metadata }) => metadata?.name)

t.test('selectors see the version that was asked for', async (t) => {
  const { v1, v2 } = open()
  for (let i = 0; i < 5; i++) await v1.create(`/widgets/w${i}`, widget(`w${i}`, i % 2))
  const small = parseLabelSelector('size=1')
  t.same(namesOf((await v1.getList('/widgets/', listed({ label: small }))).items), ['w1', 'w3'])
  t.same(namesOf((await v2.getList('/widgets/', listed({ label: small }))).items), [])
  t.same(namesOf((await v2.getList('/widgets/', listed({ label: parseLabelSelector('length=1') }))).items), [
    'w1',
    'w3',
  ])
  const field = parseFieldSelector('spec.size=0')
  t.same(namesOf((await v1.getList('/widgets/', listed({ field }))).items), ['w0', 'w2', 'w4'])
})

t.test('pages of a selection go on where they ended', async (t) => {
  const { v1 } = open()
  for (let i = 0; i < 9; i++) await v1.create(`/widgets/w${i}`, widget(`w${i}`, i % 2))
  const label = parseLabelSelector('size=0')
  const pages: unknown[] = []
  let continueToken = ''
  do {
    const page = await v1.getList('/widgets/', listed({ label, limit: 2, continueToken }))
    pages.push(namesOf(page.items))
    continueToken = page.continueToken
  } while (continueToken !== '')
  t.same(pages, [['w0', 'w2'], ['w4', 'w6'], ['w8']])
})

async function take(stream: WatchStream<KubeObject>, count: number): Promise<string[]> {
  const seen: string[] = []
  while (seen.length < count) {
    const { value } = await stream.next()
    if (value === undefined) break
    if ('object' in value)
      seen.push(`${value.type} ${value.object.metadata?.name} ${value.object.apiVersion?.slice(-2)}`)
    else seen.push(value.type)
  }
  return seen
}

t.test(
  'a watch shows its version; objects come into and leave a selection by what they are converted to',
  async (t) => {
    const { v1, v2 } = open()
    await v1.create('/widgets/a', widget('a', 1))
    const { metadata } = await v1.create('/widgets/b', widget('b', 2))
    const all = await v1.watch('/widgets/', { ...listed(), resourceVersion: '0' })
    t.same(await take(all, 2), ['ADDED a v1', 'ADDED b v1'])
    const label = parseLabelSelector('size=2')
    const some = await v1.watch('/widgets/', { ...listed({ label }), resourceVersion: metadata?.resourceVersion ?? '' })
    const resize = (name: string, length: number) =>
      v2.guaranteedUpdate(`/widgets/${name}`, (object) => ({ object: { ...object, spec: { length } } }))
    await resize('b', 2)
    await resize('a', 2)
    await resize('b', 3)
    await resize('b', 4)
    await v2.delete('/widgets/a')
    await v2.delete('/widgets/b')
    t.same(await take(some, 3), ['ADDED a v1', 'DELETED b v1', 'DELETED a v1'])
    t.same(await take(all, 5), ['MODIFIED a v1', 'MODIFIED b v1', 'MODIFIED b v1', 'DELETED a v1', 'DELETED b v1'])
    some.stop()
    all.stop()
  },
)

t.test('a watch whose webhook fails ends with that', async (t) => {
  const { v1, converter } = open()
  await v1.create('/widgets/a', widget('a', 1))
  const watch = await v1.watch('/widgets/', { ...listed(), resourceVersion: '0' })
  converter.broken = true
  t.same(await take(watch, 2), ['ERROR'])
})
