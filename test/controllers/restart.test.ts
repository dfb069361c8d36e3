import t from 'tap'
import { RestartScenario } from './restart-scenario.js'

t.test('a server that is killed in the middle goes on where it was', async (t) => {
  await new RestartScenario(t, Date.now() & 0xffff).run(2)
})
