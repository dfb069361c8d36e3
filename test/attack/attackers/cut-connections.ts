/** Connections that break: in the handshake, the head, the body, in frames of a WebSocket; closed, half closed or reset. */
import net, { type Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { Random } from '../../support/fuzz.js'
import { type Attack, type Attacker, pause, runLanes } from '../attack.js'
import { requestBytes, Wire, WireClosed } from '../wire.js'

const LANES = 8
const LONGEST_MS = 500
const UPGRADE = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: a2tra2tra2tra2tra2traw==',
  'Sec-WebSocket-Protocol: v5.channel.k8s.io',
]
const CONFIGMAPS = '/api/v1/namespaces/crowd/configmaps'

const noise = (random: Random, length: number): Buffer =>
  Buffer.from(Array.from({ length: random.below(length) + 1 }, () => random.below(256)))

/** A greeting as TLS clients send it, with some of it changed. */
function hello(random: Random): Buffer {
  const greeting = Buffer.concat([Buffer.from([22, 3, 1, 0, 120, 1, 0, 0, 116, 3, 3]), noise(random, 200)])
  if (random.chance(50)) greeting[random.below(greeting.byteLength)] = random.below(256)
  return random.chance(30) ? noise(random, 3000) : greeting
}

/** On the bare connection, below TLS. */
async function breakHandshake(attack: Attack, random: Random): Promise<void> {
  const { host, port } = attack.server
  const socket = net.connect(port, host)
  socket.on('error', () => socket.destroy())
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve)
    socket.once('close', () => reject(new WireClosed('closed before it was open')))
  })
  if (random.chance(80)) socket.write(random.chance(80) ? hello(random) : 'GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  await leave(attack, socket, random)
}

/**
 * Ends in one of the ways that connections end. A TLSSocket refuses to send a reset (and one sent below it crashes Node), but the
 * kernel sends it for a connection that is closed while bytes are in it that nobody has read.
 */
async function leave(attack: Attack, socket: Socket, random: Random): Promise<void> {
  const way = random.below(4)
  const isSecure = socket instanceof TLSSocket
  if (way === 0) socket.destroy()
  if (way === 1 && isSecure) socket.pause()
  if (way === 1 && !isSecure) socket.resetAndDestroy()
  if (way === 2) socket.end()
  if (way >= 2 || (way === 1 && isSecure)) await pause(random.below(LONGEST_MS), attack.signal)
  socket.destroy()
}

function whole(random: Random): Buffer {
  const body = JSON.stringify({
    metadata: { name: `cut-${random.below(20)}` },
    data: { padding: 'y'.repeat(random.below(20_000)) },
  })
  const json = 'Content-Type: application/json'
  switch (random.below(6)) {
    case 0:
      return requestBytes({ method: 'GET', target: `${CONFIGMAPS}?watch=1`, token: 'crowd' })
    case 1:
      return requestBytes({ method: 'GET', target: CONFIGMAPS, token: 'crowd' })
    case 2:
      return requestBytes({ method: 'POST', target: `${CONFIGMAPS}?dryRun=All`, token: 'crowd', headers: [json], body })
    case 3: {
      const head = requestBytes({
        method: 'POST',
        target: `${CONFIGMAPS}?dryRun=All`,
        token: 'crowd',
        headers: [json, 'Transfer-Encoding: chunked'],
      })
      return Buffer.concat([head, Buffer.from(`${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`)])
    }
    default:
      return socketSession(random)
  }
}

/** An upgrade, right or wrong, and frames after it without waiting for the answer. */
function socketSession(random: Random): Buffer {
  const target = random.pick([
    '/api/v1/namespaces/attack/pods/p/exec?command=seed&command=seed/20&stdin=1&stdout=1',
    '/api/v1/namespaces/attack/pods/page/portforward?ports=80',
    '/api/v1/nodes/hostile/proxy/seed/20',
    `${CONFIGMAPS}?watch=1`,
  ])
  const headers = UPGRADE.filter(() => random.chance(95))
  if (random.chance(20)) headers.push('Sec-WebSocket-Protocol: a, b, , c')
  const head = requestBytes({ method: 'GET', target, token: random.pick(['prober', 'crowd']), headers })
  const frames = Array.from({ length: random.below(6) }, () => frame(random))
  return Buffer.concat([head, ...frames])
}

function frame(random: Random): Buffer {
  const payload = noise(random, 120)
  const first = random.pick([0x82, 0x81, 0x02, 0x80, 0x88, 0x89, 0x8a, 0xf2, 0x83])
  const masked = random.chance(90) ? 0x80 : 0
  const length = random.pick([
    [payload.byteLength],
    [126, 0, payload.byteLength],
    [127, 255, 255, 255, 255, 0, 0, 0, 1],
  ])
  length[0]! |= masked
  return Buffer.concat([Buffer.from([first, ...length]), Buffer.from([1, 2, 3, 4]), payload])
}

async function breakRequest(attack: Attack, random: Random): Promise<void> {
  const wire = await Wire.open(attack.server, attack.signal)
  try {
    const bytes = whole(random)
    const cut = random.chance(70) ? random.below(bytes.byteLength) : bytes.byteLength
    // In pieces, since what arrives at once is read at once.
    const middle = random.below(cut + 1)
    wire.send(bytes.subarray(0, middle))
    if (random.chance(30)) await pause(random.below(50), attack.signal)
    wire.send(bytes.subarray(middle, cut))
    if (random.chance(50)) await wire.answer({ deadlineMs: random.below(LONGEST_MS) })
    await leave(attack, wire.socket, random)
  } finally {
    wire.close()
  }
}

export const cutConnections: Attacker = {
  name: 'cut-connections',
  run: (attack) =>
    runLanes(attack, 'cut-connections', LANES, ({ random }) =>
      random.chance(30) ? breakHandshake(attack, random) : breakRequest(attack, random),
    ),
}
