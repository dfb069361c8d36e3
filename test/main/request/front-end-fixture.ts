import t from 'tap'
import type { Attributes, Authenticator, Authorizer } from '#keelson/auth/interface.js'
import { nullLogger } from '#keelson/lib/logger.js'
import { Exchange } from '#keelson/main/http/exchange.js'
import type { RequestHead } from '#keelson/main/http/request-head.js'
import { NonResourcePaths } from '#keelson/main/paths/non-resource-paths.js'
import { FrontEnd, type FrontEndOptions } from '#keelson/main/request/front-end.js'
import type { Leave } from '#keelson/main/request/request-gate.js'
import { ServedResource } from '#keelson/main/verbs/served-resource.js'
import { FakeClock } from '../../support/fake-clock.js'
import { FakePort, requestHead } from '../http/fake-port.js'

export const ALICE = { name: 'alice', uid: '', groups: [], extra: {} }
const known: Authenticator = { authenticate: () => ({ user: ALICE }) }
/** Decides everything alike, and keeps what it was asked. */
export const deciding = (
  decision: 'allow' | 'deny' | 'no-opinion',
  reason = '',
  asked: Attributes[] = [],
): Authorizer => ({
  authorize: (attributes) => {
    asked.push(attributes)
    return { decision, reason }
  },
})
const open = { enter: (): Leave => () => undefined }

/** A front end with paths of its own and no resources; whatever a test does not give must not be asked. */
export function frontEnd(options: Partial<FrontEndOptions> = {}) {
  const paths = new NonResourcePaths()
  const clock = new FakeClock()
  const ran: string[] = []
  paths.exact('/x', (exchange) => {
    ran.push('x')
    exchange.respond({ status: 200, contentType: 'text/plain' }, 'ok')
    return undefined
  })
  paths.exact('/never', () => new Promise<void>(() => undefined))
  const unused = new Proxy({}, { get: () => () => t.fail('not for this request') })
  const server = new FrontEnd({
    views: () => unused as ReturnType<FrontEndOptions['views']>,
    pool: unused as FrontEndOptions['pool'],
    clock,
    random: () => 0,
    logger: nullLogger,
    nonResourcePaths: paths,
    requestTimeoutMs: 60_000,
    minRequestTimeoutSeconds: 1800,
    authenticator: known,
    gate: open,
    ...options,
  })
  const send = (head: Partial<RequestHead>): FakePort => {
    const port = new FakePort()
    server.handle(new Exchange(requestHead(head), port))
    return port
  }
  return { send, ran, clock, server }
}

export const STREAMS = ['exec', 'log', 'proxy', 'attach']
export const POD_RESOURCE = new ServedResource({
  arena: 'pods',
  keyPrefix: '/registry/pods/',
  direct: true,
  isCustom: false,
  selectableFields: [],
  connects: Object.fromEntries(STREAMS.map((name) => [name, name === 'proxy' ? { subpath: true } : {}])),
  info: {
    group: '',
    version: 'v1',
    resource: 'pods',
    kind: 'Pod',
    namespaced: true,
    singular: 'pod',
    verbs: ['get', 'list', 'watch'],
    shortNames: [],
    categories: [],
    storageVersionHash: undefined,
    subresources: STREAMS.map((name) => ({
      name,
      group: '',
      version: 'v1',
      kind: 'Pod',
      verbs: ['create', 'get', 'update', 'patch', 'delete'],
    })),
    returnsDeleted: false,
    servedByDefault: true,
  },
})
export const message = (port: FakePort): string => (JSON.parse(port.body) as { message: string }).message
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
