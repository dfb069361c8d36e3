/** Thread: main. --tracing-config-file: where spans go, and of how many requests. */
import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { parseYaml } from '../../api/yaml/yaml.js'
import type { CollectorEndpoint, TracingConfig } from '../../protocol/tracing-config.js'
import { fileProblem } from './file-checks.js'
import { flagText } from './flag-values.js'
import { type FlagValues, flagsOf } from './flags.js'

const NAME = 'tracing-config-file'

export const TRACING_FLAGS = [
  flagsOf('Logs and debugging')(
    NAME,
    'string',
    '',
    'The TracingConfiguration (apiserver.config.k8s.io/v1 or v1beta1): the collector that spans of requests are sent to by OTLP, and of how many requests; without it none are made.',
  ),
]

const VERSIONS = ['v1', 'v1beta1', 'v1alpha1'].map((version) => `apiserver.config.k8s.io/${version}`)
const KIND = 'TracingConfiguration'
const FIELDS: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'endpoint', 'samplingRatePerMillion'])
const DEFAULT_ENDPOINT = 'localhost:4317'
const DEFAULT_PORT = 4317
const MILLION = 1_000_000

/** The configuration, undefined for no file, or everything that is wrong with the file. */
export function tracingConfig(values: FlagValues): { config: TracingConfig | undefined } | { errors: string[] } {
  const file = flagText(values, NAME)
  if (file === '') return { config: undefined }
  const problem = fileProblem(file)
  if (problem !== undefined) return { errors: [`--${NAME}: ${problem}`] }
  let tree: unknown
  try {
    tree = parseYaml(readFileSync(file, 'utf8')).value
  } catch (error) {
    return { errors: [`--${NAME}: ${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`] }
  }
  if (typeof tree !== 'object' || tree === null || Array.isArray(tree))
    return { errors: [`--${NAME}: ${file} holds no ${KIND}`] }
  const parsed = parseTracing(tree as Readonly<Record<string, unknown>>)
  return 'errors' in parsed ? { errors: parsed.errors.map((error) => `--${NAME}: ${file}: ${error}`) } : parsed
}

function parseTracing(tree: Readonly<Record<string, unknown>>): { config: TracingConfig } | { errors: string[] } {
  const { apiVersion, kind, endpoint = DEFAULT_ENDPOINT, samplingRatePerMillion = 0 } = tree
  const errors: string[] = []
  if (kind !== KIND || !VERSIONS.includes(String(apiVersion)))
    errors.push(`it must be a ${KIND} of ${VERSIONS.join(', ')}`)
  for (const field of Object.keys(tree)) if (!FIELDS.has(field)) errors.push(`${JSON.stringify(field)} is unknown`)
  const rate = Number(samplingRatePerMillion)
  if (
    !['number', 'bigint'].includes(typeof samplingRatePerMillion) ||
    !(rate >= 0 && rate <= MILLION) ||
    rate % 1 !== 0
  )
    errors.push(`samplingRatePerMillion must be a whole number from 0 to ${MILLION}`)
  const address = typeof endpoint === 'string' ? parseEndpoint(endpoint) : undefined
  if (address === undefined)
    errors.push('endpoint must be host:port, dns://host:port or the path of a Unix socket after unix:')
  if (errors.length > 0 || address === undefined) return { errors }
  const instanceId = `${hostname()}-${process.pid}`
  return { config: { endpoint: address, samplingRatePerMillion: rate, instanceId } }
}

/** The forms are gRPC's: dns: and unix: may have two or three slashes after them. */
function parseEndpoint(text: string): CollectorEndpoint | undefined {
  const unix = /^unix:(?:\/\/)?(\/?[^/].*)$/.exec(text)
  if (unix !== null) return { path: unix[1]! }
  const authority = text.replace(/^dns:(?:\/\/[^/]*\/|\/\/)?/, '')
  if (!URL.canParse(`http://${authority}`) || /[/?#@\s]/.test(authority)) return undefined
  const { hostname: host, port } = new URL(`http://${authority}`)
  // The URL class leaves the port of its scheme out.
  const given = port === '' && authority.endsWith(':80') ? 80 : Number(port) || DEFAULT_PORT
  return host === '' ? undefined : { host: host.replace(/^\[|\]$/g, ''), port: given }
}
