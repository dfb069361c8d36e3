import { skipWithoutEtcd } from '../support/etcd-server.js'
import { everyBehaviour } from './behaviours.js'
import { HttpHarness } from './http/http-harness.js'
import { serveEtcd } from './http/served-engines.js'
import { FAILING_HTTP, WITHOUT_HTTP } from './http/without-http.js'
import { runSuite } from './suite.js'

const engine = skipWithoutEtcd ? undefined : await serveEtcd()
const harness = engine && new HttpHarness(engine, 'json')

runSuite(
  {
    name: 'server over etcd, by HTTP',
    cached: true,
    skip: skipWithoutEtcd,
    without: WITHOUT_HTTP,
    failing: FAILING_HTTP,
    open: (scope) => harness!.open(scope),
    async close() {
      harness?.close()
      await engine?.stop()
    },
  },
  everyBehaviour,
)
