/**
 * Preloaded into a process of the rig, and by that into each of its threads: Date is wrong by as many milliseconds as the file that
 * FAULTS_CLOCK names says. The file is read again ten times a second, so the clock jumps while the process runs. What counts time by itself
 * (timers, performance.now) goes on as it was, as it does when somebody sets a machine's clock.
 */
import fs = require('node:fs')

const file = process.env['FAULTS_CLOCK']!
const RightDate = Date
let wrongByMs = 0
const read = (): void => {
  wrongByMs = Number(fs.readFileSync(file, 'utf8'))
}
const now = (): number => RightDate.now() + wrongByMs

read()
setInterval(read, 100).unref()
globalThis.Date = new Proxy(RightDate, {
  apply: () => new RightDate(now()).toString(),
  construct: (target, args, made) => Reflect.construct(target, args.length === 0 ? [now()] : args, made) as Date,
  get: (target, name) => (name === 'now' ? now : (Reflect.get(target, name) as unknown)),
})
