import t from 'tap'
import { Random } from '../../support/fuzz.js'
import { KEY, op, read } from './builder.js'
import type { Operation, Verb } from './history.js'
import { linearize } from './linearizability.js'
import { ABSENT, step } from './register.js'
import { registers } from './verdict.js'

const created = op('create', [0, 1], 'ok', { token: 'a', revision: 5 })

const RIGHT: Readonly<Record<string, readonly Operation[]>> = {
  'what was written is read': [created, read([2, 3], 'a', 5)],
  'a read beside a write sees what was before or after': [
    created,
    op('update', [2, 9], 'ok', { token: 'b', expected: 5, revision: 6 }),
    read([3, 4], 'a', 5),
    read([5, 6], 'b', 6),
  ],
  'an unanswered write happened': [created, op('patch', [2], 'unknown', { token: 'b' }), read([8, 9], 'b', 7)],
  'an unanswered write did not happen': [created, op('patch', [2], 'unknown', { token: 'b' }), read([8, 9], 'a', 5)],
  'an unanswered write happens long after': [
    created,
    op('patch', [2], 'unknown', { token: 'b' }),
    read([8, 9], 'a', 5),
    read([10, 11], 'b', 7),
  ],
  'an unanswered deletion explains that there is nothing': [
    created,
    op('delete', [2], 'unknown'),
    op('get', [3, 4], 'absent'),
    op('create', [5, 6], 'ok', { token: 'c', revision: 9 }),
  ],
  'an unanswered update explains a conflict': [
    created,
    op('patch', [2], 'unknown', { token: 'b' }),
    op('update', [4, 5], 'conflict', { token: 'c', expected: 5 }),
  ],
  'of two that swap, one wins': [
    created,
    op('update', [2, 9], 'ok', { token: 'b', expected: 5, revision: 6 }),
    op('update', [2, 9], 'conflict', { token: 'c', expected: 5 }),
  ],
  'finalizers keep an object until they are gone': [
    op('create', [0, 1], 'ok', { token: 'a', revision: 5, finalizers: true }),
    op('delete', [2, 3], 'ok', { revision: 6 }),
    read([4, 5], 'a', 6),
    op('delete', [5, 6], 'ok', { revision: 6 }),
    op('update', [6, 7], 'ok', { token: 'b', expected: 6, finalizers: false }),
    op('get', [8, 9], 'absent'),
  ],
  'two that take the last finalizer at the same time are both told so': [
    op('create', [0, 1], 'ok', { token: 'a', revision: 5, finalizers: true }),
    op('delete', [2, 3], 'ok', { revision: 6 }),
    op('update', [4, 9], 'ok', { token: 'b', expected: 6, finalizers: false }),
    op('update', [5, 8], 'ok', { token: 'c', expected: 6, finalizers: false }),
    op('create', [10, 11], 'ok', { token: 'd', revision: 8 }),
  ],
  'a second deletion moves the time of the first one back': [
    op('create', [0, 1], 'ok', { token: 'a', revision: 5, finalizers: true }),
    op('delete', [2, 3], 'ok', { revision: 6 }),
    op('delete', [4, 5], 'ok', { revision: 7 }),
    op('update', [6, 7], 'conflict', { token: 'b', expected: 6 }),
  ],
  'an apply creates what is not there': [op('apply', [0, 1], 'ok', { token: 'a', revision: 3 }), read([2, 3], 'a', 3)],
}

const WRONG: Readonly<Record<string, readonly Operation[]>> = {
  'a stale read': [created, op('update', [2, 3], 'ok', { token: 'b', expected: 5, revision: 6 }), read([4, 5], 'a', 5)],
  'a write that is lost': [created, op('get', [2, 3], 'absent')],
  'two that swap the same revision': [
    created,
    op('update', [2, 9], 'ok', { token: 'b', expected: 5, revision: 6 }),
    op('update', [2, 9], 'ok', { token: 'c', expected: 5, revision: 7 }),
  ],
  'a conflict with nobody': [created, op('update', [2, 3], 'conflict', { token: 'b', expected: 5 })],
  'a refused write that happened': [
    created,
    op('update', [2, 3], 'conflict', { token: 'b', expected: 4 }),
    read([4, 5], 'b', 6),
  ],
  'an object that was there before': [op('create', [0, 1], 'exists', { token: 'a' })],
  'a deleted object that is read': [created, op('delete', [2, 3], 'ok'), read([4, 5], 'a', 5)],
  'a value that comes back': [
    created,
    op('patch', [2], 'unknown', { token: 'b' }),
    read([3, 4], 'b', 7),
    read([5, 6], 'a', 5),
  ],
  'a revision that goes back': [
    created,
    op('delete', [2, 3], 'ok'),
    op('create', [4, 5], 'ok', { token: 'b', revision: 4 }),
  ],
  'one write at two revisions': [created, read([2, 3], 'a', 5), read([2, 3], 'a', 6)],
  'a finalizer that keeps nothing': [
    op('create', [0, 1], 'ok', { token: 'a', revision: 5, finalizers: true }),
    op('delete', [2, 3], 'ok', { revision: 6 }),
    op('get', [4, 5], 'absent'),
  ],
  'the last finalizer is taken again when another object is there': [
    op('create', [0, 1], 'ok', { token: 'a', revision: 5, finalizers: true }),
    op('delete', [2, 3], 'ok', { revision: 6 }),
    op('update', [4, 5], 'ok', { token: 'b', expected: 6, finalizers: false }),
    op('create', [6, 7], 'ok', { token: 'd', revision: 8 }),
    op('update', [8, 9], 'ok', { token: 'c', expected: 6, finalizers: false }),
  ],
  'something unknown is read': [created, read([2, 3], 'z', 6)],
}

for (const [name, history] of Object.entries(RIGHT))
  t.test(`right: ${name}`, async (t) => t.equal(linearize(history).verdict, 'yes'))
for (const [name, history] of Object.entries(WRONG))
  t.test(`wrong: ${name}`, async (t) => t.equal(linearize(history).verdict, 'no'))

t.test('what cannot follow is named', async (t) => {
  const search = linearize(WRONG['a stale read']!)
  t.match(search, { verdict: 'no', stuck: { seen: { token: 'a' } } })
  t.equal(search.verdict === 'no' && search.order.length, 2)
})

t.test('a search that takes too long says so', async (t) => {
  t.same(linearize(RIGHT['an unanswered write happened']!, 1), { verdict: 'undecided' })
})

t.test('hundreds of unanswered writes that nobody saw leave nothing undecided', async (t) => {
  const history: Operation[] = [op('create', [0, 1], 'ok', { token: 'a', revision: 5, finalizers: false })]
  for (let i = 0; i < 300; i++) {
    const verb = (['patch', 'delete', 'apply', 'update', 'create'] as const)[i % 5]!
    const expected = verb === 'update' ? { expected: 5 } : {}
    history.push(op(verb, [10 + i], 'unknown', { ...(verb !== 'delete' && { token: `u${i}` }), ...expected }))
  }
  const conflict = op('update', [400, 401], 'conflict', { token: 'b', expected: 5 })
  t.equal(linearize([...history, conflict]).verdict, 'yes', 'one of them explains a conflict')
  const written = op('update', [402, 403], 'ok', { token: 'c', expected: 9, revision: 10 })
  t.equal(linearize([...history, conflict, written, read([404, 405], 'c', 10)]).verdict, 'yes')
  t.equal(
    linearize([...history, conflict, written, read([404, 405], 'a', 5)]).verdict,
    'no',
    'none explains a stale read',
  )
})

t.test('an unanswered write that somebody saw has happened by then', async (t) => {
  const history = [created, op('patch', [2], 'unknown', { token: 'b' }), read([8, 9], 'b', 7)]
  t.match(registers(history).get(KEY)?.[1], { result: 'ok', returnedMs: 9 })
  t.equal(linearize([...registers(history).get(KEY)!, read([10, 11], 'a', 5)]).verdict, 'no')
})

/** Runs a register in some order, stretches the intervals around it, and forgets some of the answers. */
function made(random: Random, length: number): Operation[] {
  const operations: Operation[] = []
  let state = ABSENT
  for (let i = 0; i < length; i++) {
    const verb = random.pick<Verb>(['create', 'update', 'patch', 'apply', 'delete', 'get', 'get'])
    const expected =
      verb === 'update' || random.chance(20) ? (state.revision ?? 1) - Number(random.chance(30)) : undefined
    const write = verb === 'get' ? {} : { token: `t${i}`, revision: 10 + i }
    const tried = { ...op(verb, [i * 10 - random.below(25), i * 10 + random.below(25)], 'ok'), ...write }
    const operation = { ...tried, ...(expected !== undefined && verb !== 'get' && verb !== 'create' && { expected }) }
    const results = ['ok', 'absent', 'exists', 'conflict'] as const
    const seenNow =
      state.token === undefined ? {} : { seen: { key: KEY, token: state.token, revision: state.revision! } }
    const all = results.map((result): Operation => {
      const { revision: _, ...failed } = operation
      return result === 'ok' ? { ...operation, ...(verb === 'get' && seenNow) } : { ...failed, result }
    })
    const possible = all.find((one) => step(state, one) !== undefined)
    if (possible === undefined) throw new Error(`no result for ${verb}`)
    state = step(state, possible)!
    const { returnedMs: _, revision: __, ...unanswered } = possible
    const isForgotten = verb !== 'get' && random.chance(10)
    operations.push(isForgotten ? { ...unanswered, result: 'unknown' } : possible)
  }
  return operations
}

t.test('histories that a register made are found to be right, whatever was not answered', async (t) => {
  const random = new Random(11)
  for (let round = 0; round < 120; round++) {
    const operations = made(random, 40)
    if (linearize(operations).verdict !== 'yes') t.fail(JSON.stringify(operations))
  }
})

t.test('one answer that is changed is found, where it can be told at all', async (t) => {
  const random = new Random(12)
  let found = 0
  for (let round = 0; round < 120; round++) {
    const operations = made(random, 40)
    const gets = operations.flatMap((one, i) => (one.verb === 'get' && one.seen !== undefined ? [i] : []))
    if (gets.length === 0) continue
    const at = random.pick(gets)
    const { seen: was, ...rest } = operations[at]!
    operations[at] = { ...rest, seen: { ...was!, revision: was!.revision + 1 } }
    if (linearize(operations).verdict === 'no') found++
  }
  t.ok(found > 100, `${found} found`)
})
