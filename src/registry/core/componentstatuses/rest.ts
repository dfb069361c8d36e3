/** Thread: pool. How the parts of a control plane are, asked when somebody asks: nothing of it is stored. */

import https from 'node:https'
import type { ComponentCondition, ComponentStatus } from '../../../api/generated/kinds/core.v1.js'
import { metadataOf } from '../../../api/object.js'
import { MapAttributes } from '../../../api/selector.js'
import { newNotFound } from '../../../api/status.js'
import { lookupTable } from '../../../lib/lookup-table.js'
import type { EndpointHandler } from '../../generic/endpoint-handler.js'
import type { ResourceREST } from '../../generic/resource-rest.js'
import type { RESTDependencies } from '../../generic/rest-dependencies.js'
import type { RequestContext } from '../../generic/strategy.js'
import { NAME_COLUMN } from '../../generic/table-columns.js'

export interface ComponentHealth {
  readonly status: 'True' | 'False' | 'Unknown'
  readonly message?: string
  readonly error?: string
}

export type ComponentProbe = () => Promise<ComponentHealth>

const CONTROLLER_MANAGER_PORT = 10_257
const SCHEDULER_PORT = 10_259
const PROBE_TIMEOUT_MS = 20_000
/** Answers are short; the rest is not read. */
const MAX_TEXT = 10 * 1024

/** GET of a health path on this machine; its certificate is its own. */
export function httpsProbe(port: number, path: string): ComponentProbe {
  return () =>
    new Promise((resolve) => {
      const failed = (error: Error): void =>
        // Nobody there is a failure too, as in Kubernetes.
        resolve({ status: 'False', message: `Get "https://127.0.0.1:${port}${path}": ${error.message}` })
      const request = https.get(
        { host: '127.0.0.1', port, path, rejectUnauthorized: false, timeout: PROBE_TIMEOUT_MS, agent: false },
        (response) => {
          let text = ''
          response.setEncoding('utf8')
          response.on('data', (chunk: string) => {
            if (text.length < MAX_TEXT) text += chunk
          })
          response.on('error', failed)
          response.on('end', () => {
            const status = response.statusCode ?? 0
            if (status >= 200 && status < 400) resolve({ status: 'True', message: text })
            else resolve({ status: 'False', message: `HTTP probe failed with statuscode: ${status}` })
          })
        },
      )
      request.on('timeout', () => request.destroy(new Error('the probe timed out')))
      request.on('error', failed)
    })
}

/** The servers of a storage cluster, asked something small. */
export const storageProbe =
  (ask: () => Promise<void>): ComponentProbe =>
  async () => {
    try {
      await ask()
      return { status: 'True', message: 'ok' }
    } catch (error) {
      return { status: 'False', error: error instanceof Error ? error.message : String(error) }
    }
  }

async function statusOf(name: string, probe: ComponentProbe): Promise<ComponentStatus> {
  const condition: ComponentCondition = { type: 'Healthy', ...(await probe()) }
  return { kind: 'ComponentStatus', apiVersion: 'v1', metadata: { name }, conditions: [condition] }
}

function conditionOf({ conditions }: ComponentStatus): ComponentCondition | undefined {
  return conditions?.find(({ type }) => type === 'Healthy')
}

const HEALTH: Readonly<Record<string, string>> = lookupTable({ True: 'Healthy', False: 'Unhealthy' })

const endpoint = (probes: Readonly<Record<string, ComponentProbe>>): EndpointHandler => ({
  rules: {
    table: {
      columns: [
        NAME_COLUMN,
        { name: 'Status', type: 'string', description: 'Whether the component is healthy.' },
        { name: 'Message', type: 'string', description: 'What the component said.' },
        { name: 'Error', type: 'string', description: 'Why it could not be asked.' },
      ],
      cells: (object) => {
        const { status = '', message = '', error = '' } = conditionOf(object) ?? {}
        return [metadataOf(object).name ?? '', HEALTH[status] ?? 'Unknown', message, error]
      },
    },
  },
  get: async (_context: RequestContext, name: string) => {
    const probe = Object.hasOwn(probes, name) ? probes[name] : undefined
    if (probe === undefined) throw newNotFound({ group: '', resource: 'componentstatus' }, name)
    return statusOf(name, probe)
  },
  list: async (_context, { label, field }) => {
    const all = await Promise.all(Object.entries(probes).map(([name, probe]) => statusOf(name, probe)))
    const items = all.filter(
      ({ metadata = {} }) =>
        label.matches(new MapAttributes({})) && field.matches(new MapAttributes({ 'metadata.name': metadata.name! })),
    )
    return { items, resourceVersion: 0, continueToken: '', remainingItemCount: undefined }
  },
})

/** etcd-0, etcd-1, … for each storage cluster, and the two other parts of a control plane. */
const probesOf = ({ storageProbes }: Pick<RESTDependencies, 'storageProbes'>): Record<string, ComponentProbe> => ({
  ...Object.fromEntries(storageProbes.map((probe, i) => [`etcd-${i}`, storageProbe(probe)])),
  'controller-manager': httpsProbe(CONTROLLER_MANAGER_PORT, '/healthz'),
  scheduler: httpsProbe(SCHEDULER_PORT, '/healthz'),
})

export const componentStatusREST: ResourceREST = {
  resource: { make: ({ dependencies }) => endpoint(probesOf(dependencies)) },
}
