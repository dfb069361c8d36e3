import { readFileSync } from 'node:fs'
import { constants } from 'node:os'
import path from 'node:path'
import t from 'tap'
import { temporaryFolder } from '../support/temporary-folder.js'
import { acksOf, runWithFault, verify } from './embedded-faults.js'
import { compileFaults, type FaultAction } from './fault-library.js'
import { readTrace } from './write-trace.js'

/** embedded-faults.long.ts takes every call; here some of them, spread over all. */
const GROUPS = 8
const KILLS = 9
const FAILURES = 3

const compiled = compileFaults(t)
const skip = 'skip' in compiled ? compiled.skip : false
const library = 'library' in compiled ? compiled.library : ''

t.setTimeout(900_000)

/** How many calls that write a run without faults has. */
async function countCalls(): Promise<number> {
  const trace = path.join(temporaryFolder(t, 'trace'), 'trace')
  const run = await runWithFault(t, { library, at: 0, action: 'kill', groups: GROUPS, trace })
  await verify(run)
  return readTrace(readFileSync(trace)).filter(({ name }) => name !== 'acks').length
}

t.test('kills before, within and after calls that write lose nothing that was acknowledged', { skip }, async (t) => {
  const calls = await countCalls()
  t.ok(calls > 3 * GROUPS, `${calls} calls that write`)
  const actions: FaultAction[] = ['kill', 'torn', 'after']
  for (let i = 0; i < KILLS; i++) {
    const at = 1 + Math.floor((i * calls) / KILLS)
    const action = actions[i % actions.length]!
    const run = await runWithFault(t, { library, at, action, groups: GROUPS })
    t.equal(run.signal, 'SIGKILL', `${action} at call ${at} of ${calls}: ${run.said}`)
    await t.resolves(verify(run), `${action} at call ${at}, ${acksOf(run.notes).length} writes acknowledged`)
  }
})

t.test(
  'calls that fail for want of space or with an I/O error lose nothing that was acknowledged',
  { skip },
  async (t) => {
    const calls = await countCalls()
    for (const action of [constants.errno.ENOSPC, constants.errno.EIO])
      for (let i = 1; i <= FAILURES; i++) {
        const at = Math.floor((i * calls) / (FAILURES + 1))
        const run = await runWithFault(t, { library, at, action, calls: 2, groups: GROUPS })
        t.notOk(run.signal, `errno ${action} at call ${at}: ${run.said}`)
        await t.resolves(verify(run), `errno ${action} at call ${at}, ${acksOf(run.notes).length} acknowledged`)
      }
  },
)
