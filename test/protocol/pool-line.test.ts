import t from 'tap'
import { createRing } from '#keelson/lib/ring/ring-layout.js'
import { RingReceiver } from '#keelson/lib/ring/ring-receiver.js'
import { RingSender } from '#keelson/lib/ring/ring-sender.js'
import type { EncodedResponse, PoolRequest } from '#keelson/protocol/main-pool.js'
import { readAnswer, TaskReader, TaskWriter, writeAnswer } from '#keelson/protocol/pool-line.js'
import type { PoolHandover } from '#keelson/protocol/pool-pulse.js'

const request = (more: Partial<PoolRequest> = {}): PoolRequest => ({
  info: {
    isResourceRequest: true,
    path: '/api/v1/namespaces/größe/pods/a/status',
    verb: 'update',
    apiPrefix: 'api',
    apiGroup: '',
    apiVersion: 'v1',
    namespace: 'größe',
    resource: 'pods',
    subresource: 'status',
    name: 'a',
    parts: ['pods', 'a', 'status'],
  },
  method: 'PUT',
  query: 'dryRun=All',
  user: { name: 'alice', uid: '7', groups: ['a', 'b'], extra: { 'x.io/y': ['1', '2'], __proto__x: [] } },
  accept: 'application/json',
  contentType: 'application/yaml',
  userAgent: 'a client',
  body: new Uint8Array([1, 2, 3]),
  auditId: 'the-audit-id',
  deadlineMs: 1_790_000_000_123.5,
  ...more,
})

function line(capacity = 64 * 1024) {
  const memory = createRing(capacity)
  const reader = new TaskReader()
  const taken: PoolHandover[] = []
  const writer = new TaskWriter(new RingSender(memory, () => undefined))
  const receiver = new RingReceiver({ memory, framesPerTurn: 1_000, take: (frame) => taken.push(reader.read(frame)) })
  return { writer, taken, receiver }
}

const write = (input: PoolRequest, place = 3): PoolHandover => ({ place, task: { type: 'write', input, slot: 9 } })

t.test('a task crosses whole, and a user whom the line knows by a number', (t) => {
  const { writer, taken, receiver } = line()
  const [first, second] = [request(), request({ user: { name: 'bob', uid: '', groups: [], extra: {} } })]
  const again = request({ user: first.user, body: new Uint8Array() })
  for (const one of [first, second, again]) t.equal(writer.write(write(one)), true)
  t.equal(writer.write({ place: 4, task: { type: 'read', input: second, slot: -1 } }), true)
  receiver.wake()
  const plain = taken.map(({ place, task }) => ({
    place,
    task: { ...task, input: { ...(task.input as PoolRequest) } },
  }))
  t.strictSame(plain, [
    write(first),
    write(second),
    write(again),
    { place: 4, task: { type: 'read', input: second, slot: -1 } },
  ])
  t.end()
})

t.test('a user whose task found no room is told with the next one', (t) => {
  const { writer, taken, receiver } = line(4096)
  const user = { name: 'late', uid: '', groups: ['g'], extra: {} }
  t.equal(writer.write(write(request({ user, body: new Uint8Array(4096) }))), false)
  t.equal(writer.write(write(request({ user }))), true)
  receiver.wake()
  t.same((taken[0]!.task.input as PoolRequest).user, user)
  t.end()
})

t.test('more users than the line counts are each who they are', (t) => {
  const { writer, taken, receiver } = line(1024 * 1024)
  const users = Array.from({ length: 600 }, (_, i) => ({ name: `user-${i}`, uid: '', groups: [], extra: {} }))
  const order = [...users, ...users.slice(0, 300)]
  for (const user of order) t.ok(writer.write(write(request({ user }))))
  receiver.wake()
  t.same(
    taken.map(({ task }) => (task.input as PoolRequest).user.name),
    order.map(({ name }) => name),
  )
  t.end()
})

t.test('what is passed on, and other tasks, do not go over the line', (t) => {
  const { writer } = line()
  const { info } = request()
  const proxied = request({ info: { ...info, proxied: { prefix: '/p', rest: '/r' } } })
  t.equal(writer.write(write(proxied)), false)
  t.equal(writer.write({ place: 1, task: { type: 'bootstrapAccess', input: {}, slot: -1 } }), false)
  t.end()
})

t.test('an answer crosses whole, with and without annotations', (t) => {
  const memory = createRing(4096)
  const sender = new RingSender(memory, () => undefined)
  const taken: unknown[] = []
  const receiver = new RingReceiver({ memory, framesPerTurn: 9, take: (frame) => taken.push(readAnswer(frame)) })
  const bare: EncodedResponse = {
    status: 201,
    contentType: 'application/json',
    warnings: ['größer'],
    headers: ['Retry-After', '1'],
    body: new Uint8Array([7, 8]),
  }
  const noted: EncodedResponse = { ...bare, auditAnnotations: { a: 'b', ['__proto__']: 'c' } }
  t.equal(writeAnswer(sender, 5, bare), true)
  t.equal(writeAnswer(sender, 6, noted), true)
  t.equal(writeAnswer(sender, 7, { ...bare, body: new Uint8Array(4096) }), false)
  receiver.wake()
  t.strictSame(taken[0], { place: 5, answer: bare })
  const { answer } = taken[1] as { answer: EncodedResponse }
  t.same(Object.entries(answer.auditAnnotations!), [
    ['a', 'b'],
    ['__proto__', 'c'],
  ])
  t.equal(taken.length, 2)
  t.end()
})
