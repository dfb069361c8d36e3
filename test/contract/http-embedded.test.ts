import { everyBehaviour } from './behaviours.js'
import { HttpHarness } from './http/http-harness.js'
import { serveEmbedded } from './http/served-engines.js'
import { FAILING_EMBEDDED_HTTP, WITHOUT_EMBEDDED_HTTP } from './http/without-http.js'
import { runSuite } from './suite.js'

const engine = await serveEmbedded()
const harness = new HttpHarness(engine, 'json')

runSuite(
  {
    name: 'server over the embedded engine, by HTTP',
    cached: true,
    without: WITHOUT_EMBEDDED_HTTP,
    failing: FAILING_EMBEDDED_HTTP,
    open: (scope) => harness.open(scope),
    async close() {
      harness.close()
      await engine.stop()
    },
  },
  everyBehaviour,
)
