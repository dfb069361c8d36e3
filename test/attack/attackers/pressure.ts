/** Much of everything: watches with long selectors, big objects made and deleted, large lists, floods of connections. */
import type { Random } from '../../support/fuzz.js'
import { type Attack, type Attacker, pause, runLanes } from '../attack.js'
import { requestBytes, Wire, WireKeeper } from '../wire.js'

const WATCHES = 60
const WATCH_MS = 15_000
const SELECTOR_TERMS = 150
const BIG_BYTES = 900_000
const DEADLINE_MS = 30_000
const FLOOD = 60
const FLOOD_MS = 5000
const CROWD = '/api/v1/namespaces/crowd'

/** A connection that watches with a long selector, which every event is held against and none fits. */
async function watch(attack: Attack, random: Random): Promise<void> {
  const wire = await Wire.open(attack.server, attack.signal)
  const terms = Array.from({ length: SELECTOR_TERMS }, (_, i) => `l${i} in (v${random.below(1000)},w)`).join(',')
  const target = `${CROWD}/configmaps?watch=1&labelSelector=${encodeURIComponent(terms)}`
  wire.send(requestBytes({ method: 'GET', target, token: 'crowd' }))
  const { status } = await wire.answer({ deadlineMs: random.below(WATCH_MS) })
  attack.log.count(`pressure watch ${status}`)
  wire.close()
}

/** Big objects come and go; what is left over after a break is taken by its name the next time. */
async function bigObjects(attack: Attack, random: Random, keeper: WireKeeper): Promise<void> {
  const name = `huge-${random.below(6)}`
  const body = JSON.stringify({ metadata: { name }, data: { a: 'z'.repeat(random.below(BIG_BYTES)) } })
  const headers = ['Content-Type: application/json']
  const ask = async (method: string, target: string, sent?: string): Promise<number> => {
    const bytes = requestBytes({ method, target, token: 'crowd', headers, body: sent })
    const { status, body: said, ended } = await keeper.ask(bytes, { deadlineMs: DEADLINE_MS, limitBytes: 64 << 20 })
    if (status >= 500 && status !== 503)
      attack.log.wrong('pressure', `${method} ${target}: ${status} ${said.toString()}`)
    if (ended === 'timeout' && !attack.signal.aborted) attack.log.wrong('pressure', `${method} ${target}: no answer`)
    return status
  }
  const made = await ask('POST', `${CROWD}/configmaps`, body)
  attack.log.count(`pressure create ${made}`)
  attack.log.count(`pressure list ${await ask('GET', `${CROWD}/configmaps`)}`)
  await ask('DELETE', `${CROWD}/configmaps/${name}`)
}

/** Many connections at once that say nothing, little, or one thing. */
async function flood(attack: Attack, random: Random): Promise<void> {
  const wires = await Promise.allSettled(Array.from({ length: FLOOD }, () => Wire.open(attack.server, attack.signal)))
  for (const wire of wires) {
    if (wire.status !== 'fulfilled') continue
    const said = random.pick(['', 'GET /api', requestBytes({ method: 'GET', target: '/version', token: 'nobody' })])
    if (said !== '') wire.value.send(said)
  }
  attack.log.count('pressure connections', wires.length)
  await pause(random.below(FLOOD_MS), attack.signal)
  for (const wire of wires) if (wire.status === 'fulfilled') wire.value.close()
}

export const pressure: Attacker = {
  name: 'pressure',
  run: async (attack) => {
    const keeper = new WireKeeper(attack.server, attack.signal)
    await Promise.all([
      runLanes(attack, 'pressure-watches', WATCHES, ({ random }) => watch(attack, random)),
      runLanes(attack, 'pressure-objects', 1, ({ random }) => bigObjects(attack, random, keeper)),
      runLanes(attack, 'pressure-floods', 1, ({ random }) => flood(attack, random)),
    ])
  },
}
