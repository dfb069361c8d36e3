/** Hundreds who ask for lists and watches and read them a byte at a time, or not at all. */
import tls, { type TLSSocket } from 'node:tls'
import type { Random } from '../../support/fuzz.js'
import { type Attack, type Attacker, pause, runLanes } from '../attack.js'
import { CLIENT_CONTEXT, requestBytes, WireClosed } from '../wire.js'

const LANES = 150
const LONGEST_MS = 15_000
const BIG_OBJECTS = 40
const BIG_BYTES = 60_000
const CROWD = '/api/v1/namespaces/crowd/configmaps'
const TARGETS = [
  CROWD,
  `${CROWD}?limit=20`,
  `${CROWD}?resourceVersion=0`,
  `${CROWD}?watch=1&resourceVersion=0`,
  `${CROWD}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`,
  `${CROWD}?watch=1`,
  '/openapi/v2',
  '/apis',
]

async function connect(attack: Attack): Promise<TLSSocket> {
  const { host, port } = attack.server
  const socket = tls.connect({ host, port, rejectUnauthorized: false, secureContext: CLIENT_CONTEXT })
  await new Promise<void>((resolve, reject) => {
    socket.once('secureConnect', resolve)
    socket.once('error', reject)
    socket.once('close', () => reject(new WireClosed('closed before it was open')))
  })
  return socket
}

async function readSlowly(attack: Attack, random: Random): Promise<void> {
  const socket = await connect(attack)
  socket.on('error', () => socket.destroy())
  const headers = random.pick([[], ['Accept-Encoding: gzip'], ['Accept: application/vnd.kubernetes.protobuf']])
  socket.write(requestBytes({ method: 'GET', target: random.pick(TARGETS), token: 'crowd', headers }))
  const style = random.below(3)
  const untilMs = performance.now() + random.below(LONGEST_MS)
  socket.pause()
  if (style === 0) await pause(untilMs - performance.now(), attack.signal)
  while (style > 0 && performance.now() < untilMs && !attack.signal.aborted && !socket.destroyed) {
    if (socket.read(style === 1 ? 1 : 512) !== null) attack.log.count('slow-readers reads')
    await pause(style === 1 ? 100 : 25, attack.signal)
  }
  if (random.chance(50)) socket.destroy()
  else socket.end()
  socket.resume()
  setTimeout(() => socket.destroy(), 100).unref()
}

/** What is read slowly changes meanwhile. */
async function churn(attack: Attack): Promise<void> {
  const padding = 'x'.repeat(BIG_BYTES)
  const object = (i: number, n: number): object => ({ metadata: { name: `big-${i}` }, data: { n: String(n), padding } })
  for (let i = 0; i < BIG_OBJECTS; i++) await attack.server.make(CROWD, object(i, 0))
  for (let n = 1; !attack.signal.aborted; n++) {
    const i = n % BIG_OBJECTS
    const { status, text } = await attack.server.admin('PUT', `${CROWD}/big-${i}`, object(i, n))
    if (status !== 200) attack.log.wrong('slow-readers churn', `${status} ${text}`)
    attack.log.count('slow-readers writes')
    await pause(20, attack.signal)
  }
}

export const slowReaders: Attacker = {
  name: 'slow-readers',
  run: async (attack) => {
    await Promise.all([
      churn(attack),
      runLanes(attack, 'slow-readers', LANES, ({ random }) => readSlowly(attack, random)),
    ])
  },
}
