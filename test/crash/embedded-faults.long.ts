/** Every call that writes, and not some of them as in embedded-faults.test.ts. */
import { readFileSync } from 'node:fs'
import { constants } from 'node:os'
import path from 'node:path'
import t from 'tap'
import { temporaryFolder } from '../support/temporary-folder.js'
import { runWithFault, verify } from './embedded-faults.js'
import { compileFaults, type FaultAction } from './fault-library.js'
import { readTrace } from './write-trace.js'

const GROUPS = 14
const ACTIONS: readonly FaultAction[] = ['kill', 'torn', 'after', constants.errno.ENOSPC, constants.errno.EIO]

const compiled = compileFaults(t)
const skip = 'skip' in compiled ? compiled.skip : false
const library = 'library' in compiled ? compiled.library : ''

// Some hundreds of processes.
t.setTimeout(7_200_000)

for (const action of ACTIONS)
  t.test(`${action} at every call that writes loses nothing that was acknowledged`, { skip }, async (t) => {
    const trace = path.join(temporaryFolder(t, 'trace'), 'trace')
    await verify(await runWithFault(t, { library, at: 0, action: 'kill', groups: GROUPS, trace }))
    const calls = readTrace(readFileSync(trace)).filter(({ name }) => name !== 'acks').length
    for (let at = 1; at <= calls; at++) {
      const run = await runWithFault(t, { library, at, action, groups: GROUPS })
      if (typeof action === 'string' && run.signal !== 'SIGKILL') t.fail(`${action} at ${at} did nothing: ${run.said}`)
      await verify(run).catch((error: unknown) => t.fail(`${action} at call ${at}: ${String(error)}`))
    }
    t.ok(calls > 3 * GROUPS, `${calls} calls`)
  })
