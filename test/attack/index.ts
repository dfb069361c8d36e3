/**
 * Attacks a server of its own. Run: `npm run test:attack`. Arguments: `--seconds 300 --seed 7 --only slow-readers,pressure
 * --flags=--front-ends=2`. Ends with a table; the exit code is 1 unless the server held.
 */
import { parseArgs } from 'node:util'
import { details, failures, table } from './report.js'
import { ATTACKERS, runAttack } from './run.js'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '300' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string', default: '' },
    flags: { type: 'string', default: '' },
  },
})
const list = (text: string, separator: string): string[] => text.split(separator).filter((part) => part !== '')
const only = list(values.only, ',')
const unknown = only.filter((name) => !ATTACKERS.some((attacker) => attacker.name === name))
if (unknown.length > 0) throw new Error(`no such attacker: ${unknown}. There are ${ATTACKERS.map(({ name }) => name)}`)

const outcome = await runAttack({
  seconds: Number(values.seconds),
  seed: Number(values.seed),
  only,
  flags: list(values.flags, ' '),
  say: (text) => console.error(text),
})
const failed = failures(outcome)
for (const detail of details(outcome)) console.log(detail)
console.log(`\n${table(outcome)}\n`)
console.log(failed.length === 0 ? 'The server held.' : `FAILED: ${failed.join('; ')}`)
process.exit(failed.length === 0 ? 0 : 1)
