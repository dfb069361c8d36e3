/** What strace does to a process: its syncs take longer while it lasts, everything else does not. */
import { spawn } from 'node:child_process'
import path from 'node:path'
import { createInterface } from 'node:readline'
import t from 'tap'
import { temporaryFolder } from '../../support/temporary-folder.js'
import { until } from '../../support/until.js'
import { canTrace, SlowSyncs } from './slow-syncs.js'

const DELAY_MS = 80
const skip = canTrace ? false : 'strace cannot be used here'

t.test('syncs are slow while it lasts, and as they were afterwards', { skip }, async (t) => {
  const file = path.join(temporaryFolder(t, 'syncs'), 'file')
  const program = `
    const fs = require('node:fs')
    const file = fs.openSync(process.argv[1], 'w')
    setInterval(() => {
      const timed = (act) => {
        const begunMs = performance.now()
        act()
        return performance.now() - begunMs
      }
      const written = timed(() => fs.writeSync(file, 'x'))
      console.log(written + ' ' + timed(() => fs.fdatasyncSync(file)))
    }, 5)`
  const child = spawn(process.execPath, ['-e', program, file], { stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => child.kill('SIGKILL'))
  let [writeMs, syncMs, count] = [0, 0, 0]
  createInterface({ input: child.stdout }).on('line', (line) => {
    ;[writeMs, syncMs] = line.split(' ').map(Number) as [number, number]
    count++
  })
  await until(() => count > 3, { what: 'the first syncs' })
  const slowness = SlowSyncs.begin(child.pid!, DELAY_MS)
  await until(() => syncMs >= DELAY_MS && writeMs < DELAY_MS, { what: 'a slow sync beside a write that is not' })
  await slowness.end()
  await until(() => syncMs < DELAY_MS, { what: 'a sync that is not slow' })
  t.ok(child.exitCode === null, 'the process goes on')
})

t.test('a process that ends meanwhile takes nothing with it', { skip }, async (t) => {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1000)'], { stdio: 'ignore' })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  const slowness = SlowSyncs.begin(child.pid!, DELAY_MS)
  child.kill('SIGKILL')
  await ended
  await slowness.end()
  t.pass('both are gone')
})
