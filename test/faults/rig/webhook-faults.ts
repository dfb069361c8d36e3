/** Trouble between the servers and the webhook that they ask about some of the writes. */
import type { Random } from '../../support/fuzz.js'
import { DIRECTIONS, type Fault, over } from './fault.js'
import type { Link } from './link.js'

function onWebhook(name: string, begin: (line: Link, random: Random) => () => Promise<void>): Fault {
  return { name, needsEtcd: false, needsTls: false, begin: async (rig, random) => begin(rig.webhookLink, random) }
}

export const WEBHOOK_FAULTS: readonly Fault[] = [
  onWebhook('hold the webhook', (line, random) => {
    line.hold(random.pick(DIRECTIONS))
    return async () => line.release()
  }),
  onWebhook('delay the webhook', (line, random) => {
    line.delayMs = 50 + random.below(1500)
    return async () => {
      line.delayMs = 0
    }
  }),
  onWebhook('the webhook is gone', (line) => {
    line.refuses = true
    line.breakAll()
    return async () => {
      line.refuses = false
    }
  }),
  onWebhook('cut the webhook at a byte', (line, random) => {
    line.cutAfter(random.pick(['forth', 'back']), 1 + random.below(3000))
    return over
  }),
]
