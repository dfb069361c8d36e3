/** The short form of `npm run test:attack`, all attackers at once. */
import t from 'tap'
import { details, failures, table } from './report.js'
import { runAttack } from './run.js'

const SECONDS = 20
const SEED = Number(process.env['KEELSON_FUZZ_SEED'] ?? '1')

t.test('a server that is attacked from all sides answers rightly, in time, and ends as it is told', async (t) => {
  const outcome = await runAttack({ seconds: SECONDS, seed: SEED, only: [], flags: [], say: (text) => t.comment(text) })
  t.comment(table(outcome))
  t.same(failures(outcome), [], details(outcome).join('\n'))
  t.ok((outcome.quiet?.latencies.length ?? 0) > 0, 'the quiet client was served')
})
