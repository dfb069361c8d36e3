import { createAndGet } from './behaviours/create-and-get.js'
import { list } from './behaviours/list.js'
import { listPaging } from './behaviours/list-paging.js'
import { HttpHarness } from './http/http-harness.js'
import { serveEmbedded } from './http/served-engines.js'
import { among, FAILING_EMBEDDED_HTTP, WITHOUT_EMBEDDED_HTTP } from './http/without-http.js'
import { runSuite } from './suite.js'

/** Reads of objects and lists in YAML: the pool makes these, where JSON comes from shared memory in the front end. */
const reads = [...createAndGet, ...list, ...listPaging]
const engine = await serveEmbedded()
const harness = new HttpHarness(engine, 'yaml')

runSuite(
  {
    name: 'server over the embedded engine, by HTTP in YAML',
    cached: true,
    without: among(WITHOUT_EMBEDDED_HTTP, reads),
    failing: among(FAILING_EMBEDDED_HTTP, reads),
    open: (scope) => harness.open(scope),
    async close() {
      harness.close()
      await engine.stop()
    },
  },
  reads,
)
