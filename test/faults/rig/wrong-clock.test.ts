/** The clock that the rig gives its servers jumps in every thread, while they run. */
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { temporaryFolder } from '../../support/temporary-folder.js'

const HOUR_MS = 3_600_000

t.test('Date is wrong by what the file says, in the process and in its threads, and right again after', async (t) => {
  const file = path.join(temporaryFolder(t, 'clock'), 'clock')
  writeFileSync(file, String(HOUR_MS))
  const tell = `setInterval(() => console.log([Date.now(), new Date().getTime(), Date.parse(Date())].join(' ')), 20)`
  const program = `${tell}; new (require('node:worker_threads').Worker)(${JSON.stringify(tell)}, { eval: true })`
  const preload = fileURLToPath(new URL('wrong-clock.cjs', import.meta.url))
  const child = spawn(process.execPath, ['-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NODE_OPTIONS: `--require ${preload}`, FAULTS_CLOCK: file },
  })
  t.teardown(() => child.kill('SIGKILL'))
  let before = 0
  let after = 0
  for await (const line of createInterface({ input: child.stdout })) {
    const wrong = line.split(' ').map((time) => Math.round((Number(time) - Date.now()) / HOUR_MS))
    if (wrong.every((hours) => hours === 1)) before++
    if (wrong.every((hours) => hours === -2)) after++
    // Both of the threads have told it by then.
    if (before === 20) writeFileSync(file, String(-2 * HOUR_MS))
    if (after === 20) break
  }
  t.ok(before >= 20 && after >= 20)
})
