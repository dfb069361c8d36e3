/**
 * Thread: main. The file of --egress-selector-config-file: an EgressSelectorConfiguration, by the rules of kube-apiserver. Unknown
 * fields are refused, because one that is misspelt would send connections past the proxy.
 */
import { readFileSync } from 'node:fs'
import type { Json, JsonObject } from '../../api/object.js'
import { parseYaml, YamlError } from '../../api/yaml/yaml.js'
import type { ConnectProxy, EgressConfig, EgressName } from '../../lib/egress/egress-config.js'
import { fileProblem } from './file-checks.js'

const FLAG = '--egress-selector-config-file'
const API_VERSION = 'apiserver.k8s.io/v1beta1'
const KIND = 'EgressSelectorConfiguration'
const NAMES: readonly string[] = ['controlplane', 'cluster', 'etcd'] satisfies EgressName[]
/** The longest path of a socket that Linux takes. */
const MAX_SOCKET_PATH = 107

export type EgressSelector = { readonly egress: EgressConfig } | { readonly errors: string[] }

/** Reads the file; for '' every connection is direct. */
export function readEgressSelector(file: string): EgressSelector {
  if (file === '') return { egress: {} }
  const problem = fileProblem(file)
  if (problem !== undefined) return { errors: [`${FLAG}: ${problem}`] }
  const errors: string[] = []
  const at = new Place(file, (error) => errors.push(`${FLAG}: ${error}`))
  const egress = selections(at, readYaml(at, file))
  return errors.length > 0 ? { errors } : { egress }
}

/** A place in the file, by which its problems are told. */
class Place {
  readonly #path: string
  readonly #report: (error: string) => void

  constructor(path: string, report: (error: string) => void) {
    this.#path = path
    this.#report = report
  }

  problem(why: string): undefined {
    this.#report(`${this.#path}: ${why}`)
    return undefined
  }

  child(name: string): Place {
    const joint = this.#path === '' || /^[[:]/.test(name) ? '' : /[\]\w]$/.test(this.#path) ? '.' : ''
    return new Place(`${this.#path}${joint}${name}`, this.#report)
  }

  /** The object, when it is one and has no other fields. */
  object(value: Json | undefined, fields: readonly string[]): JsonObject | undefined {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return this.problem('must be an object')
    for (const name of Object.keys(value))
      if (!fields.includes(name)) this.problem(`unknown field ${JSON.stringify(name)}`)
    return value
  }

  text(value: Json | undefined): string {
    if (value === undefined || value === null) return ''
    if (typeof value === 'string') return value
    this.problem('must be text')
    return ''
  }
}

function readYaml(at: Place, file: string): Json | undefined {
  try {
    return parseYaml(readFileSync(file, 'utf8')).value
  } catch (error) {
    if (!(error instanceof YamlError)) throw error
    return at.problem(error.message)
  }
}

function selections(file: Place, value: Json | undefined): EgressConfig {
  if (value === undefined) return {}
  const root = file.object(value, ['apiVersion', 'kind', 'egressSelections'])
  if (root === undefined) return {}
  if (root['apiVersion'] !== API_VERSION || root['kind'] !== KIND) {
    file.problem(`apiVersion and kind must be ${API_VERSION} and ${KIND}`)
    return {}
  }
  const entries = root['egressSelections'] ?? []
  const egress: Partial<Record<EgressName, ConnectProxy>> = {}
  if (!Array.isArray(entries)) {
    file.problem('egressSelections must be a list')
    return {}
  }
  const seen = new Set<string>()
  for (const [i, entry] of entries.entries()) {
    const at = file.child(`: egressSelections[${i}]`)
    const selection = at.object(entry, ['name', 'connection'])
    if (selection === undefined) continue
    const name = at.child('name').text(selection['name']).toLowerCase()
    if (seen.has(name)) at.problem(`${JSON.stringify(name)} is given more than once`)
    else if (!isName(name)) at.problem(`name ${JSON.stringify(name)} is none of ${NAMES.join(', ')}`)
    seen.add(name)
    const proxy = connection(at.child('connection'), selection['connection'])
    if (proxy !== undefined && isName(name)) egress[name] = proxy
  }
  return egress
}

const isName = (name: string): name is EgressName => NAMES.includes(name)

/** The proxy of a connection; undefined for a direct one, and for one that is wrong. */
function connection(at: Place, value: Json | undefined): ConnectProxy | undefined {
  const given = at.object(value, ['proxyProtocol', 'transport'])
  if (given === undefined) return undefined
  const { transport } = given
  const protocol = at.child('proxyProtocol').text(given['proxyProtocol'])
  switch (protocol) {
    case 'Direct':
      return isThere(transport) ? at.child('transport').problem('must be absent with Direct') : undefined
    case 'HTTPConnect':
      return proxy(at.child('transport'), transport)
    case 'GRPC':
      return at.child('proxyProtocol').problem('GRPC is not spoken by this server; HTTPConnect is, and Direct')
    default:
      return at
        .child('proxyProtocol')
        .problem(`${JSON.stringify(protocol)} is unknown; it is Direct, HTTPConnect or GRPC`)
  }
}

function proxy(at: Place, value: Json | undefined): ConnectProxy | undefined {
  if (!isThere(value)) return at.problem('must be set with HTTPConnect')
  const transport = at.object(value, ['tcp', 'uds'])
  if (transport === undefined) return undefined
  const { tcp, uds } = transport
  if (isThere(tcp) && isThere(uds)) return at.problem('tcp and uds cannot both be set')
  if (isThere(tcp)) return tcpProxy(at.child('tcp'), tcp)
  if (isThere(uds)) return udsProxy(at.child('uds'), uds)
  return at.problem('one of tcp and uds must be set')
}

function udsProxy(at: Place, value: Json): ConnectProxy | undefined {
  const uds = at.object(value, ['udsName'])
  if (uds === undefined) return undefined
  const socketPath = at.child('udsName').text(uds['udsName'])
  if (socketPath === '') return at.child('udsName').problem('must be the path of a Unix socket')
  if (Buffer.byteLength(socketPath) > MAX_SOCKET_PATH)
    return at.child('udsName').problem(`a path of a Unix socket has at most ${MAX_SOCKET_PATH} bytes`)
  return { address: { socketPath }, tls: undefined }
}

function tcpProxy(at: Place, value: Json): ConnectProxy | undefined {
  const tcp = at.object(value, ['url', 'tlsConfig'])
  if (tcp === undefined) return undefined
  const { tlsConfig } = tcp
  const text = at.child('url').text(tcp['url'])
  const isSecure = text.startsWith('https://')
  if (!isSecure && !text.startsWith('http://'))
    return at.child('url').problem(`${JSON.stringify(text)} must begin with http:// or https://`)
  let url: URL
  try {
    url = new URL(text)
  } catch {
    return at.child('url').problem(`${JSON.stringify(text)} is no URL`)
  }
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const address = { host, port: url.port === '' ? (isSecure ? 443 : 80) : Number(url.port) }
  if (!isSecure)
    return isThere(tlsConfig)
      ? at.child('tlsConfig').problem('must be absent with an http:// URL')
      : { address, tls: undefined }
  if (!isThere(tlsConfig)) return at.child('tlsConfig').problem('must be set with an https:// URL')
  const tls = tlsFiles(at.child('tlsConfig'), tlsConfig)
  return tls && { address, tls }
}

function tlsFiles(at: Place, value: Json): ConnectProxy['tls'] {
  const given = at.object(value, ['caBundle', 'clientCert', 'clientKey'])
  if (given === undefined) return undefined
  const read = (name: string, isNeeded: boolean): string | undefined => {
    const place = at.child(name)
    const file = place.text(given[name])
    if (file === '') return isNeeded ? place.problem('is needed for TLS') : ''
    const problem = fileProblem(file)
    return problem === undefined ? readFileSync(file, 'utf8') : place.problem(problem)
  }
  const [ca, cert, key] = [read('caBundle', false), read('clientCert', true), read('clientKey', true)]
  return ca === undefined || cert === undefined || key === undefined ? undefined : { ca, cert, key }
}

const isThere = (value: Json | undefined): value is Json => value !== undefined && value !== null
