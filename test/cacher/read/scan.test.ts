import t from 'tap'
import { parseListOptions } from '#keelson/api/list-options.js'
import { parseSelectors } from '#keelson/api/selectors.js'
import { keyRange } from '#keelson/cacher/read/key-range.js'
import { type PageOptions, scanPage } from '#keelson/cacher/read/scan.js'
import { decodeContinue } from '#keelson/storage/contract/continue-token.js'
import { MemoryArena, MemoryClock } from '../../support/memory-arena.js'
import { draft } from '../memory/draft.js'

const ROOT = '/registry/pods/'
const selectors = (labelSelector = '') =>
  parseSelectors(parseListOptions(new URLSearchParams({ labelSelector }), false), [])

function fixture(names: readonly (readonly [name: string, app: string])[]) {
  const clock = new MemoryClock()
  const arena = new MemoryArena(clock)
  for (const [i, [name, app]] of names.entries())
    arena.put(`${ROOT}${name}`, draft(name, { labels: ['app', app] }), i + 1, i + 1)
  arena.publish(names.length)
  clock.advance(names.length)
  arena.setReady(true)
  const page = (options: Partial<PageOptions> & { limit: number }) => {
    const snapshot = arena.snapshot()
    try {
      const range = keyRange(ROOT, true)
      return scanPage({ snapshot, range, startKey: undefined, selectors: selectors(), ...options }, ({ key }) =>
        key.slice(ROOT.length),
      )
    } finally {
      snapshot.release()
    }
  }
  return { page }
}

t.test('pages follow each other without a gap, and say how many are left', async (t) => {
  const { page } = fixture(['a/1', 'a/2', 'b/1', 'b/2', 'c/1'].map((name) => [name, 'x']))
  const first = page({ limit: 2 })
  t.same(first.items, ['a/1', 'a/2'])
  t.equal(first.remaining, 3)
  const { startKey, revision } = decodeContinue(first.continueToken, ROOT)
  t.equal(revision, 5)
  const second = page({ limit: 3, startKey })
  t.same(second.items, ['b/1', 'b/2', 'c/1'])
  t.same([second.continueToken, second.remaining], ['', undefined], 'nothing follows: no token')
  t.same(page({ limit: 0 }).items.length, 5)
})

t.test('with a selector there is a token while any key follows, whether it matches or not', async (t) => {
  const { page } = fixture([
    ['a/1', 'x'],
    ['a/2', 'y'],
    ['b/1', 'x'],
    ['b/2', 'y'],
  ])
  const first = page({ limit: 2, selectors: selectors('app=x') })
  t.same(first.items, ['a/1', 'b/1'])
  t.not(first.continueToken, '', 'a key follows that does not match')
  t.equal(first.remaining, undefined, 'and nobody knows how many match')
  const { startKey } = decodeContinue(first.continueToken, ROOT)
  t.match(page({ limit: 2, startKey, selectors: selectors('app=x') }), { items: [], continueToken: '' })
  t.equal(page({ limit: 3, selectors: selectors('app=x') }).continueToken, '', 'the range was read to its end')
})

t.test('an index that leads to the matches alone gives the same token', async (t) => {
  const { page } = fixture([
    ['a/1', 'x'],
    ['b/1', 'y'],
  ])
  const plain = page({ limit: 1, selectors: selectors('app=x') })
  const indexed = page({
    limit: 1,
    selectors: selectors('app=x'),
    within: keyRange(`${ROOT}a/`, true),
  })
  t.equal(indexed.continueToken, plain.continueToken)
  t.not(plain.continueToken, '')
})
