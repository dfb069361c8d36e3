/** Thread: main. The flags of the listener and of the threads behind it, and what is wrong with their values. */
import { isIP } from 'node:net'
import { MAX_READERS } from '../../cacher/memory/memory-layout.js'
import { flagText, rangeErrors } from './flag-values.js'
import type { Flag, FlagValues } from './flags.js'

export const SERVING = 'Serving'

/**
 * Every thread that reads shared memory has a place of its own there; some places are left for the process itself and
 * for restarts.
 */
const MAX_FRONT_ENDS = 16
const MAX_POOL_THREADS = MAX_READERS - MAX_FRONT_ENDS - 8
/** The limit is kube-apiserver's: clients that connect anew all the time do little else. */
const MAX_GOAWAY_CHANCE = 0.02

export const SERVING_FLAGS: readonly Flag[] = [
  {
    name: 'config',
    type: 'string',
    default: '',
    group: SERVING,
    help: 'A file of flags (YAML or JSON), such as "secure-port: 6443"; what is said on the command line wins.',
  },
  { name: 'bind-address', type: 'string', default: '127.0.0.1', group: SERVING, help: 'The address to listen on.' },
  {
    name: 'secure-port',
    type: 'integer',
    default: '6443',
    group: SERVING,
    help: 'The port to listen on; 0 takes any free one.',
  },
  {
    name: 'pool-threads',
    type: 'integer',
    default: '0',
    group: SERVING,
    help: 'Threads that decode, validate and store; 0 chooses by the number of cores.',
  },
  {
    name: 'front-ends',
    type: 'integer',
    default: '1',
    group: SERVING,
    help: 'Threads that serve clients on the port; 1 is the main thread itself.',
  },
  {
    name: 'http-engine',
    type: 'string',
    default: 'auto',
    group: SERVING,
    help: 'What speaks HTTP: uws (uWebSockets.js, HTTP/1.1, the faster one), node (Node itself, HTTP/2 too), or auto: uws where it loads and no front proxy names users (SECURITY.md).',
  },
  {
    name: 'http2-max-streams-per-connection',
    type: 'integer',
    default: '0',
    group: SERVING,
    help: 'Requests at a time that a connection of HTTP/2 may have, with --http-engine=node; 0: 1000.',
  },
  {
    name: 'disable-http2-serving',
    type: 'boolean',
    default: 'false',
    group: SERVING,
    help: 'Speaks HTTP/1.1 only, with --http-engine=node.',
  },
  {
    name: 'goaway-chance',
    type: 'number',
    default: '0',
    group: SERVING,
    help: 'The part of requests over HTTP/2, at most 0.02, after which the client is told to open another connection: behind a load balancer; with --http-engine=node.',
  },
  {
    name: 'external-hostname',
    type: 'string',
    default: '',
    group: SERVING,
    help: 'The name of this server in the addresses that it tells clients; without it --bind-address.',
  },
  {
    name: 'permit-port-sharing',
    type: 'boolean',
    default: 'false',
    group: SERVING,
    help: 'Whether other processes may listen on the same port, among which the kernel shares the connections (SO_REUSEPORT).',
  },
  {
    name: 'shutdown-delay-duration',
    type: 'duration',
    default: '0s',
    group: SERVING,
    help: 'How long requests are served after /readyz has said that the server stops.',
  },
  {
    name: 'shutdown-send-retry-after',
    type: 'boolean',
    default: 'false',
    group: SERVING,
    help: 'Whether the port stays open while requests under way are finished, and new ones are answered 429 with Retry-After.',
  },
]

export function servingErrors(values: FlagValues): string[] {
  const errors: string[] = []
  const host = flagText(values, 'bind-address')
  if (isIP(host) === 0 && host !== 'localhost') errors.push(`--bind-address: ${JSON.stringify(host)} is no IP address`)
  const within = (name: string, low: number, high: number): void =>
    void errors.push(...rangeErrors(values, name, low, high))
  within('secure-port', 0, 65535)
  within('pool-threads', 0, MAX_POOL_THREADS)
  within('front-ends', 1, MAX_FRONT_ENDS)
  within('http2-max-streams-per-connection', 0, 1e6)
  within('goaway-chance', 0, MAX_GOAWAY_CHANCE)
  const engine = flagText(values, 'http-engine')
  if (!['auto', 'uws', 'node'].includes(engine))
    errors.push(`--http-engine ${JSON.stringify(engine)} is unknown; it is auto, uws or node`)
  return errors
}
