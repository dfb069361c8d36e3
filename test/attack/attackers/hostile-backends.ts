/** Somebody who may use proxies and logs, where what answers behind them breaks every rule; see hostile-backend.ts. */
import type { Random } from '../../support/fuzz.js'
import { type Attacker, type Lane, place, runLanes } from '../attack.js'
import { requestBytes, WireKeeper } from '../wire.js'

const LANES = 5
/** The hostile side ends each of its games well before. */
const DEADLINE_MS = 25_000
const LIMIT_BYTES = 2 * 1024 * 1024
const POD = '/api/v1/namespaces/attack/pods'
const SOCKET = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: a2tra2tra2tra2tra2traw==',
]
const PROTOCOLS = [
  'v5.channel.k8s.io',
  'v4.channel.k8s.io',
  'channel.k8s.io',
  'base64.channel.k8s.io',
  'SPDY/3.1+portforward.k8s.io',
]

interface Visit {
  readonly method: string
  readonly target: string
  readonly headers: readonly string[]
}

function visit(random: Random): Visit {
  const seed = random.below(1 << 30)
  const socket = [...SOCKET, `Sec-WebSocket-Protocol: ${random.pick(PROTOCOLS)}`]
  const method = random.pick(['GET', 'GET', 'POST', 'PUT', 'DELETE'])
  const encoding = random.pick([[], ['Accept-Encoding: gzip'], ['Accept: text/html']])
  switch (random.below(6)) {
    case 0:
      return { method, target: `/api/v1/nodes/hostile/proxy/seed/${seed}`, headers: encoding }
    case 1:
      return { method, target: `${POD}/page/proxy/seed/${seed}`, headers: encoding }
    case 2:
      return {
        method: 'GET',
        target: `${POD}/p/log?tailLines=${seed}${random.pick(['', '&follow=true'])}`,
        headers: [],
      }
    case 3:
      return {
        method: 'GET',
        target: `${POD}/p/exec?command=seed&command=seed/${seed}&stdout=1&stdin=1`,
        headers: socket,
      }
    case 4:
      return { method: 'GET', target: `${POD}/p/attach?stdout=1&container=c&seed=${seed}`, headers: socket }
    default:
      return { method: 'GET', target: `/api/v1/nodes/hostile/proxy/seed/${seed}`, headers: socket }
  }
}

export const hostileBackends: Attacker = {
  name: 'hostile-backends',
  run: async (attack) => {
    const keepers = new Map<Lane, WireKeeper>()
    await runLanes(attack, 'hostile-backends', LANES, async (lane) => {
      const keeper = keepers.get(lane) ?? new WireKeeper(attack.server, attack.signal)
      keepers.set(lane, keeper)
      const { method, target, headers } = visit(lane.random)
      const body = method === 'GET' ? undefined : 'x'.repeat(lane.random.below(5000))
      const bytes = requestBytes({ method, target, headers, body, token: 'prober' })
      // Half of those who ask do not stay to the end.
      const stays = lane.random.chance(50)
      const deadlineMs = stays ? DEADLINE_MS : lane.random.below(300)
      const answer = await keeper.ask(bytes, { deadlineMs, limitBytes: LIMIT_BYTES }, true)
      attack.log.count(`hostile-backends ${answer.status}`)
      if (stays && answer.ended === 'timeout' && answer.status !== 101 && !attack.signal.aborted)
        attack.log.wrong(place(attack, lane), `still open after ${DEADLINE_MS} ms: ${method} ${target}: ${answer.head}`)
      if ([403, 429].includes(answer.status)) attack.log.count(`hostile-backends ${answer.status}`)
    })
  },
}
