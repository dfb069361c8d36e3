import t from 'tap'
import { clockProblem, nodeProblem } from '#keelson/main/start-checks.js'

t.test('a Node that is too old is told so, with what to do', async (t) => {
  for (const version of ['20.19.0', '20.20.2', '22.0.0', '24.21.0', '26.9.0', '30.0.0-nightly'])
    t.equal(nodeProblem(version), undefined, version)
  for (const version of ['20.18.3', '18.20.8', '16.0.0'])
    t.match(
      nodeProblem(version),
      new RegExp(`^Node ${version} is too old: Keelson needs 20.19 or newer[^\n]*nodejs.org`),
    )
})

t.test('a clock that cannot be right is told so, with what to do', async (t) => {
  t.equal(clockProblem(Date.UTC(2026, 10, 18)), undefined)
  t.match(clockProblem(0), /^the clock of this machine says 1970-01-01[^\n]*set the clock/)
  t.match(clockProblem(Date.UTC(2207, 0, 1)), /says 2207-01-01/)
})
