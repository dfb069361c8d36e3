/** Thread: pool. One of the pods behind a service, by its endpoints, at random. */
import type { Pod } from '../../../api/generated/kinds/core.v1.js'
import type { KubeObject } from '../../../api/object.js'
import { newNotFound, newServiceUnavailable, StatusError } from '../../../api/status.js'
import type { EndpointSource } from '../../generic/rest-dependencies.js'
import type { RequestContext } from '../../generic/strategy.js'

interface Service extends KubeObject {
  spec?: { ports?: { name?: string; port?: number }[] }
}

interface Address {
  ip?: string
  targetRef?: { kind?: string; namespace?: string; name?: string }
}

interface Endpoints extends KubeObject {
  subsets?: { addresses?: Address[]; ports?: { name?: string; port?: number }[] }[]
}

export interface ServiceQuestion {
  readonly endpoints: EndpointSource
  readonly context: RequestContext
  readonly name: string
  /** A number or a name of the service's ports; '' for the one without a name. */
  readonly port: string
  /** As the request had it. */
  readonly id: string
  readonly random: () => number
}

/** Throws a StatusError: there is no such service, port, or pod. */
export async function serviceAddress(question: ServiceQuestion): Promise<{ host: string; port: number }> {
  const { id, name } = question
  const portName = await portNameOf(question)
  const { subsets = [] }: Endpoints = await get(question, 'endpoints', name)
  if (subsets.length === 0) throw newServiceUnavailable(`no endpoints available for service ${JSON.stringify(name)}`)
  for (const { addresses = [], ports = [] } of turned(subsets, question.random)) {
    const port = ports.find((one) => (one.name ?? '') === portName)?.port
    if (port === undefined) continue
    for (const address of turned(addresses, question.random))
      if (await isPod(question, address)) return { host: address.ip ?? '', port }
  }
  throw newServiceUnavailable(`no endpoints available for service ${JSON.stringify(id)}`)
}

async function portNameOf(question: ServiceQuestion): Promise<string> {
  const { port, name } = question
  if (!/^\d+$/.test(port)) return port
  const { spec }: Service = await get(question, 'services', name)
  const found = (spec?.ports ?? []).find((one) => one.port === Number(port))
  if (found === undefined)
    throw newServiceUnavailable(`no service port ${port} found for service ${JSON.stringify(name)}`)
  return found.name ?? ''
}

/** Only addresses of pods are passed on to: anybody may write others into endpoints. */
async function isPod(question: ServiceQuestion, { ip, targetRef }: Address): Promise<boolean> {
  const { namespace } = question.context
  if (targetRef?.kind !== 'Pod' || targetRef.namespace !== namespace) return false
  try {
    const { status = {} }: Pod = await get(question, 'pods', targetRef.name ?? '')
    return (status.podIPs ?? [{ ip: status.podIP }]).some((one) => one.ip === ip)
  } catch (error) {
    if (error instanceof StatusError && error.code === 404) return false
    throw error
  }
}

/** What is missing is said to be the service. */
async function get({ endpoints, context }: ServiceQuestion, resource: string, name: string): Promise<KubeObject> {
  const { store } = endpoints.find({ apiGroup: '', apiVersion: 'v1', resource, subresource: '' })
  try {
    return await store.get(context, name)
  } catch (error) {
    if (error instanceof StatusError && error.code === 404)
      throw newNotFound({ group: context.apiGroup, resource: context.resource }, name)
    throw error
  }
}

/** From a random one on: the order is kept. */
function turned<T>(items: readonly T[], random: () => number): T[] {
  const start = Math.floor(random() * items.length)
  return [...items.slice(start), ...items.slice(0, start)]
}
