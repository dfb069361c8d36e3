import t from 'tap'
import { available, replaySuite, suiteNames } from './offline-replay.js'

/** Recordings of kinds whose rules are complete, and the share of answers that must be right, in percent. */
const LEAST = { status: 97, reason: 93, body: 85 } as const
const KINDS = ['core.v1.pods', 'core.v1.replicationcontrollers', 'core.v1.services', 'apps.v1.[a-z]+', 'batch.v1.jobs']

t.test(
  'the rules answer as the recorded server did',
  { skip: available() ? false : 'no recordings here' },
  async (t) => {
    for (const name of suiteNames(new RegExp(`^(vary|edit)-(${KINDS.join('|')})$`))) {
      const score = replaySuite(name)
      for (const depth of ['status', 'reason', 'body'] as const) {
        const share = (100 * score[depth]) / score.steps
        t.ok(share >= LEAST[depth], `${name}: ${depth} ${share.toFixed(1)} % of ${score.steps}`, {
          misses: score.misses,
        })
      }
    }
  },
)
