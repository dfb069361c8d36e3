/** Watches, lists, the order of revisions, addresses and quota: each on histories that are right and on ones that are wrong in one way. */
import t from 'tap'
import { event, KEY, list, op, seen, watch } from './builder.js'
import { fromLines, type History, type HistoryRecord, toLines } from './history.js'
import { check } from './verdict.js'

const Y = 'configmaps/a/y'
const whole = watch(
  [
    event('ADDED', 'a', 5),
    event('ADDED', 'b', 6, Y),
    event('MODIFIED', 'c', 7),
    event('BOOKMARK', '', 9),
    event('DELETED', 'c', 10),
  ],
  { from: 4 },
)

const properties = (...history: HistoryRecord[]): string[] => [
  ...new Set(check(history, { limits: [{ prefix: 'configmaps/a/', most: 2 }] }).map(({ property }) => property)),
]

t.test('what is right', async (t) => {
  const right: History = [
    whole,
    watch([event('MODIFIED', 'c', 7), event('DELETED', 'c', 10)], { from: 6 }),
    watch([event('ADDED', 'b', 6, Y), event('MODIFIED', 'c', 7)], { from: 5 }),
    watch([event('ADDED', 'a', 5), event('ADDED', 'b', 6, Y), event('BOOKMARK', 'end', 6), event('MODIFIED', 'c', 7)], {
      initial: true,
    }),
    watch([event('ADDED', 'c', 7), event('ADDED', 'b', 6, Y), event('BOOKMARK', 'end', 8)], { initial: true, from: 3 }),
    watch([event('ADDED', 'c', 7), event('ADDED', 'b', 6, Y), event('DELETED', 'c', 10)]),
    watch([event('ADDED', 'a', 5)], { initial: true }),
    watch([event('ADDED', 'a', 5)], { from: 0 }),
    list([[seen('c', 7)], [seen('b', 6, Y)]], 9, { match: 'exact', asked: 9 }),
    list([[seen('a', 5)]], 5),
    list([[seen('b', 6, Y)]], 10, { match: 'fresh' }),
    list([[seen('a', 5)]], 6, { whole: false }),
    { kind: 'end', prefix: 'configmaps/a/', revision: 10 },
  ]
  t.same(check(right), [])
  t.same(check(fromLines(toLines(right))), [], 'also when it was kept as text')
})

t.test('watches', async (t) => {
  const wrong: Readonly<Record<string, HistoryRecord>> = {
    reliable: watch([event('ADDED', 'a', 5), event('MODIFIED', 'c', 7)], { from: 4 }),
    ordered: watch([event('ADDED', 'b', 6, Y), event('ADDED', 'a', 5), event('MODIFIED', 'c', 7)], { from: 4 }),
    unique: watch([event('ADDED', 'a', 5), event('ADDED', 'a', 5)], { from: 4 }),
    types: watch([event('MODIFIED', 'c', 7), event('MODIFIED', 'z', 11), event('ADDED', 'y', 12, Y)], { from: 6 }),
    bookmarkable: watch([event('ADDED', 'a', 5), event('BOOKMARK', '', 6), event('ADDED', 'b', 6, Y)], { from: 4 }),
    scope: watch([event('ADDED', 's', 3, 'secrets/a/x')], { from: 2 }),
    initial: watch([event('ADDED', 'b', 6, Y), event('BOOKMARK', 'end', 8)], { initial: true }),
    agreement: watch([event('ADDED', 'other', 5)], { from: 4 }),
    alive: watch([event('ADDED', 'a', 5)], { from: 4, awaited: true }),
    resumable: watch([event('ADDED', 'a', 5), event('ADDED', 'b', 6, Y), event('BOOKMARK', 'end', 6)], {
      initial: true,
      from: 7,
    }),
  }
  for (const [property, record] of Object.entries(wrong))
    t.ok(properties(whole, record, { kind: 'end', prefix: 'configmaps/a/', revision: 10 }).includes(property), property)
  t.same(
    properties(whole, watch([event('BOOKMARK', '', 7)], { from: 4 })),
    ['reliable'],
    'a bookmark claims what was left out',
  )
  t.same(properties(whole, watch([event('ADDED', 'a', 5)], { from: 5 })), ['ordered'], 'resumed too early')
  t.same(
    properties(whole, watch([event('ADDED', 'c', 7), event('ADDED', 'b', 6, Y), event('DELETED', 'b', 11, Y)])),
    ['initial'],
    'a gap after initial events without a bookmark',
  )
})

t.test('lists', async (t) => {
  const items = [seen('c', 7), seen('b', 6, Y)]
  const wrong: readonly (readonly [string, HistoryRecord])[] = [
    ['one revision', list([[seen('a', 5), seen('b', 6, Y)]], 9)],
    ['one revision', list([[seen('c', 7)]], 9)],
    ['one revision', list([items], 6)],
    [
      'one revision',
      {
        ...list([[items[0]!]], 9),
        pages: [
          { revision: 9, items: [items[0]!] },
          { revision: 8, items: [items[1]!] },
        ],
      },
    ],
    ['one revision', list([[seen('b', 6, Y)]], 9, { whole: false })],
    ['pages', list([[items[1]!], [items[0]!]], 9)],
    ['pages', list([[items[0]!], [items[0]!, items[1]!]], 9)],
    ['exact', list([items], 9, { match: 'exact', asked: 8 })],
    ['not older', list([items], 9, { asked: 10 })],
    ['scope', list([[...items, seen('q', 3, 'secrets/a/x')]], 9)],
  ]
  for (const [property, record] of wrong) t.ok(properties(whole, record).includes(property), property)
})

t.test('a consistent list is a read of each object below it', async (t) => {
  const created = op('create', [0, 1], 'ok', { token: 'a', revision: 5 })
  t.same(properties(created, list([[]], 5, { match: 'fresh' })), ['linearizable', 'one revision'])
  t.same(properties(created, list([[seen('a', 5)]], 5, { match: 'fresh' })), [])
})

t.test('revisions follow real time, over objects and servers', async (t) => {
  const first = op('create', [0, 1], 'ok', { token: 'a', revision: 5 })
  const other = { key: Y, token: 'b', server: 'other' }
  t.same(properties(first, op('create', [2, 3], 'ok', { ...other, revision: 4 })), ['real time'])
  t.same(properties(first, op('create', [1, 3], 'ok', { ...other, revision: 4 })), [], 'they overlap')
  t.same(properties(first, list([[]], 4, { match: 'fresh', prefix: 'secrets/' })), ['real time'])
  t.same(properties(first, list([[]], 4, { prefix: 'secrets/' })), [], 'an old list was asked for')
})

t.test('addresses and quota hold at every revision', async (t) => {
  const service = (name: string, address: string, revision: number) => ({
    ...event('ADDED', name, revision, `services/a/${name}`),
    seen: { ...seen(name, revision, `services/a/${name}`), address },
  })
  const gone = event('DELETED', 'p', 7, 'services/a/p')
  const services = (...events: ReturnType<typeof event>[]): string[] =>
    properties(watch(events, { prefix: 'services/a/', from: 4 }))
  t.same(services(service('p', '10.0.0.1', 5), service('q', '10.0.0.1', 6)), ['allocation'])
  t.same(services(service('p', '10.0.0.1', 5), gone, service('q', '10.0.0.1', 8)), [])
  const third = event('ADDED', 'z', 8, 'configmaps/a/z')
  t.same(properties(watch([...whole.events.slice(0, 3), third], { from: 4 })), ['quota'])
  t.same(properties(watch([...whole.events, event('ADDED', 'z', 11, 'configmaps/a/z')], { from: 4 })), [])
})

t.test('what a webhook has to stamp has the stamp of its write', async (t) => {
  const stamped = { stamped: ['configmaps/a/'] }
  const item = (token: string, stamp?: string) => ({ ...seen(token, 5), ...(stamp !== undefined && { stamp }) })
  const found = (...history: HistoryRecord[]): string[] => check(history, stamped).map(({ what }) => what)
  t.same(found(list([[item('a', 'a')]], 5)), [])
  t.match(found(list([[item('a')]], 5)), [/no stamp/])
  t.match(found(watch([{ type: 'ADDED', revision: 5, atMs: 1, seen: item('b', 'a') }], { from: 4 })), [/stamp of a/])
})

t.test('of each property a handful of violations is told', async (t) => {
  const many = Array.from({ length: 100 }, () =>
    watch([event('ADDED', 'a', 5, KEY), event('MODIFIED', 'c', 7)], { from: 4 }),
  )
  t.equal(check([whole, ...many]).length, 20)
})
