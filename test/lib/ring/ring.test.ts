import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import t from 'tap'
import { createRing, HEAD, TAIL } from '#keelson/lib/ring/ring-layout.js'
import { type Frame, RingReceiver } from '#keelson/lib/ring/ring-receiver.js'
import { RingSender } from '#keelson/lib/ring/ring-sender.js'
import { until } from '../../support/until.js'

const CAPACITY = 1024

interface Ends {
  readonly sender: RingSender
  readonly receiver: RingReceiver
  readonly wakes: () => number
}

function ends(take: (frame: Frame) => void, framesPerTurn = 1_000, memory = createRing(CAPACITY)): Ends {
  let wakes = 0
  const sender = new RingSender(memory, () => wakes++)
  return { sender, receiver: new RingReceiver({ memory, take, framesPerTurn }), wakes: () => wakes }
}

t.test('numbers, texts of every kind and bytes come out as they went in', (t) => {
  const taken: unknown[] = []
  const { sender, receiver } = ends((frame) => {
    taken.push([frame.number(), frame.text(), frame.texts(), frame.number(), [...frame.bytes()], frame.text()])
  })
  const texts = ['', 'plain', 'größer', '🚢🚢', '\u0000', '\ufeffwith a mark']
  sender
    .number(-1.5)
    .text('first')
    .texts(texts)
    .number(2 ** 53)
    .bytes(Buffer.from([1, 2, 3]))
    .text('last')
  t.equal(sender.send(), true)
  receiver.wake()
  t.same(taken, [[-1.5, 'first', texts, 2 ** 53, [1, 2, 3], 'last']])
  t.end()
})

t.test('what is left of a frame that failed halfway is in no other frame', (t) => {
  const taken: unknown[] = []
  const { sender, receiver } = ends((frame) => taken.push([frame.number(), frame.text(), [...frame.bytes()]]))
  sender
    .begin()
    .number(1)
    .text('theirs')
    .bytes(Buffer.from([1]))
  // @ts-expect-error what is no text is refused at run time too
  t.throws(() => sender.text(undefined))
  sender
    .begin()
    .number(2)
    .text('mine')
    .bytes(Buffer.from([2]))
    .send()
  receiver.wake()
  t.same(taken, [[2, 'mine', [2]]])
  t.end()
})

t.test('half of a character takes the place of one, and what follows it is whole', (t) => {
  const taken: string[] = []
  const { sender, receiver } = ends((frame) => taken.push(frame.text(), frame.text()))
  sender.text('a\ud83dz').text('after').send()
  receiver.wake()
  t.same(taken, ['a\ufffdz', 'after'])
  t.end()
})

t.test('frames of every length go round the ring many times, in order', (t) => {
  const taken: number[] = []
  const { sender, receiver } = ends((frame) => {
    const number = frame.number()
    const bytes = frame.bytes()
    if (bytes.every((byte) => byte === number % 256) && frame.text() === `t${number}`) taken.push(number)
  })
  let sent = 0
  for (let i = 0; i < 5_000; i++) {
    const bytes = new Uint8Array((i * 7) % 180).fill(i % 256)
    sender.number(i).bytes(bytes).text(`t${i}`)
    while (!sender.send()) {
      receiver.wake()
      sender.number(i).bytes(bytes).text(`t${i}`)
    }
    sent++
  }
  receiver.wake()
  t.equal(taken.length, sent)
  t.same(
    taken,
    Array.from({ length: sent }, (_, i) => i),
  )
  t.end()
})

t.test('the counts may wrap', (t) => {
  const memory = createRing(CAPACITY)
  const control = new Int32Array(memory)
  control[HEAD] = -64
  control[TAIL] = -64
  const taken: number[] = []
  const { sender, receiver } = ends((frame) => taken.push(frame.number()), 1_000, memory)
  for (let i = 0; i < 100; i++) {
    t.equal(sender.number(i).send(), true)
    receiver.wake()
  }
  t.equal(taken.length, 100)
  t.end()
})

t.test('what does not fit is not sent, and what comes after it is not harmed', (t) => {
  const taken: number[] = []
  const { sender, receiver } = ends((frame) => taken.push(frame.number()))
  t.equal(
    sender
      .number(0)
      .bytes(new Uint8Array(CAPACITY / 4))
      .send(),
    false,
    'too large for the ring',
  )
  let sent = 0
  while (sender.number(sent).bytes(new Uint8Array(100)).send()) sent++
  t.ok(sent >= 6 && sent <= 8, 'then it is full')
  receiver.wake()
  t.equal(taken.length, sent)
  t.equal(sender.number(sent).send(), true, 'there is room again')
  for (let i = 0; i < 5_000; i++) sender.number(i)
  t.equal(sender.send(), false, 'too many words')
  receiver.wake()
  t.equal(taken.length, sent + 1)
  t.end()
})

t.test('one who sleeps is woken once, one who reads is not', async (t) => {
  const taken: number[] = []
  const { sender, receiver, wakes } = ends((frame) => taken.push(frame.number()), 1)
  sender.number(1).send()
  sender.number(2).send()
  t.equal(wakes(), 1)
  receiver.wake()
  t.same(taken, [1], 'one frame a turn')
  sender.number(3).send()
  t.equal(wakes(), 1, 'it reads on by itself')
  await until(() => taken.length === 3, { what: 'three frames to be taken' })
  await new Promise((resolve) => setImmediate(resolve))
  sender.number(4).send()
  t.equal(wakes(), 2)
})

t.test('no frame is lost between threads, and none waits for a waking that does not come', async (t) => {
  const FRAMES = 20_000
  const memory = createRing(CAPACITY)
  const { port1, port2 } = new MessageChannel()
  const script = `
    import { workerData } from 'node:worker_threads'
    import { RingSender } from '${import.meta.resolve('#keelson/lib/ring/ring-sender.js')}'
    const { memory, port, frames } = workerData
    const sender = new RingSender(memory, () => port.postMessage(null))
    let i = 0
    const go = () => {
      for (let n = 0; n < 1 + (i % 40) && i < frames; n++) {
        if (!sender.number(i).text('x'.repeat(i % 50)).send()) break
        i++
      }
      if (i < frames) setImmediate(go)
    }
    go()
    port.on('message', () => undefined)
  `
  let next = 0
  const receiver = new RingReceiver({
    memory,
    framesPerTurn: 7,
    take: (frame) => {
      if (frame.number() === next && frame.text().length === next % 50) next++
    },
  })
  const port: MessagePort = port1
  port.on('message', () => receiver.wake())
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(script)}`), {
    workerData: { memory, port: port2, frames: FRAMES },
    transferList: [port2],
  })
  t.teardown(async () => {
    port.close()
    await worker.terminate()
  })
  await until(() => next === FRAMES, { what: 'every frame to be taken, in order' })
  t.equal(next, FRAMES)
})
