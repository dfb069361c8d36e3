/**
 * Thread: controllers. Every service with a selector has an Endpoints object of its name: the addresses of the pods that it
 * selects, ready and not ready, for each of its ports. Endpoints whose service is gone go too.
 */
import { isDeepStrictEqual } from 'node:util'
import type { EndpointAddress, EndpointSubset, Endpoints, Service } from '../../api/generated/kinds/core.v1.js'
import type { ControlledResource } from '../framework/controlled-resource.js'
import type { Controller, ControllerContext } from '../framework/controller.js'
import { failedWith } from '../framework/controller-client.js'
import { placeOf } from '../framework/seen-object.js'
import { isEnding } from '../service-account-controller.js'
import { type EndpointPod, findPort, hostnameIn, isHeadless, isInEndpoints } from './endpoint-pod.js'
import { SelectedPods } from './selected-pods.js'
import { repackSubsets, truncateSubsets } from './subsets.js'
import { TRIGGER_TIME, TriggerTimes } from './trigger-times.js'

const MANAGED_BY = 'endpoints.kubernetes.io/managed-by'
const MANAGER = 'endpoint-controller'
const OVER_CAPACITY = 'endpoints.kubernetes.io/over-capacity'
const HEADLESS = 'service.kubernetes.io/headless'
/** Of old leader elections: such Endpoints have no service, and must stay. */
export const LEADER = 'control-plane.alpha.kubernetes.io/leader'

export const endpointsController: Controller = {
  name: 'endpoints-controller',
  account: 'endpoint-controller',
  eventSource: 'endpoint-controller',
  requires: ['pods', 'services', 'endpoints'],
  start(context) {
    const sync = new EndpointsSync(context)
    const work = context.queue({ sync: (key) => sync.run(key) })
    const pods = new SelectedPods(context, (key) => work.add(key))
    sync.pods = pods
    pods.follow()
    let isStarting = true
    context.follow(context.resource('endpoints'), {
      onReset: () => {
        isStarting = true
      },
      onSynced: () => {
        isStarting = false
      },
      // What was left behind by a service that went while nobody looked; later changes are others' affair, as in Kubernetes.
      onPut: (endpoints) => {
        if (isStarting && endpoints.read().metadata?.annotations?.[LEADER] === undefined) work.add(endpoints.key)
      },
      onDelete: ({ key }) => work.add(key),
    })
  },
}

interface Wanted {
  readonly labels: Record<string, string>
  readonly subsets: EndpointSubset[]
  readonly isTruncated: boolean
}

class EndpointsSync {
  readonly #context: ControllerContext
  readonly #services: ControlledResource
  readonly #endpoints: ControlledResource
  readonly #times = new TriggerTimes()
  pods: SelectedPods | undefined

  constructor(context: ControllerContext) {
    this.#context = context
    this.#services = context.resource('services')
    this.#endpoints = context.resource('endpoints')
  }

  async run(key: string): Promise<void> {
    const { objects, client } = this.#context
    const place = placeOf(key)
    const service = await objects.getLive<Service>(this.#services, place)
    if (service === undefined) {
      this.#times.delete(key)
      if ((await objects.get(this.#endpoints, place)) === undefined) return
      await client.delete(this.#endpoints, place).catch((error: unknown) => {
        if (!failedWith(error, 'NotFound')) throw error
      })
      return
    }
    // Endpoints of services without a selector are written by their owners.
    if (service.spec?.type === 'ExternalName' || service.spec?.selector === undefined) return
    const pods = (await this.pods?.of(service)) ?? []
    const time = this.#times.next(key, service, pods)
    const found = await objects.get<Endpoints>(this.#endpoints, place)
    const all = repackSubsets(subsetsOf(service, pods))
    const truncated = truncateSubsets(all)
    const wanted: Wanted = {
      labels: labelsFor(service),
      subsets: truncated ?? all,
      isTruncated: truncated !== undefined,
    }
    if (found !== undefined && isRight(found, wanted)) return
    await this.#write(service, found, wanted, time)
  }

  async #write(
    service: Service,
    found: Endpoints | undefined,
    { labels, subsets, isTruncated }: Wanted,
    triggerTime: string,
  ): Promise<void> {
    const { client, events } = this.#context
    const { name = '', namespace = '' } = service.metadata ?? {}
    const { [TRIGGER_TIME]: _, [OVER_CAPACITY]: __, ...others } = found?.metadata?.annotations ?? {}
    const annotations = {
      ...others,
      ...(triggerTime === '' ? {} : { [TRIGGER_TIME]: triggerTime }),
      ...(isTruncated ? { [OVER_CAPACITY]: 'truncated' } : {}),
    }
    const endpoints = { ...found, metadata: { ...found?.metadata, name, namespace, annotations, labels }, subsets }
    try {
      if (found === undefined) await client.create(this.#endpoints, endpoints)
      else await client.update(this.#endpoints, endpoints)
    } catch (error) {
      if (found === undefined && isEnding(error)) return
      const [reason, did] =
        found === undefined ? ['FailedToCreateEndpoint', 'create'] : ['FailedToUpdateEndpoint', 'update']
      if (!failedWith(error, 'Conflict') && !failedWith(error, 'AlreadyExists'))
        events.record(
          { resource: this.#services, object: service },
          'Warning',
          reason!,
          `Failed to ${did} endpoint for service ${namespace}/${name}: ${error instanceof Error ? error.message : ''}`,
        )
      throw error
    }
  }
}

function subsetsOf(service: Service, pods: readonly EndpointPod[]): EndpointSubset[] {
  const withUnready = service.spec?.publishNotReadyAddresses === true
  const ports = service.spec?.ports ?? []
  const subsets: EndpointSubset[] = []
  for (const pod of pods) {
    if (!isInEndpoints(pod, withUnready)) continue
    const address = addressIn(service, pod)
    if (address === undefined) continue
    const side = withUnready || pod.isReady ? 'addresses' : 'notReadyAddresses'
    if (ports.length === 0 && service.spec?.clusterIP === 'None') subsets.push({ [side]: [address] })
    for (const servicePort of ports) {
      const port = findPort(pod, servicePort)
      if (port === undefined) continue
      const { name = '', protocol = 'TCP', appProtocol } = servicePort
      const named = { ...(name === '' ? {} : { name }), ...(appProtocol === undefined ? {} : { appProtocol }) }
      subsets.push({ [side]: [address], ports: [{ ...named, port, protocol }] })
    }
  }
  return subsets
}

function addressIn(service: Service, pod: EndpointPod): EndpointAddress | undefined {
  const { ipFamilies = [], clusterIP = '' } = service.spec ?? {}
  const family = ipFamilies[0] ?? (clusterIP.includes(':') ? 'IPv6' : pod.addresses[0]?.family)
  const found = pod.addresses.find((address) => address.family === family)
  if (found === undefined) return undefined
  const { name, namespace, uid, nodeName } = pod
  const hostname = hostnameIn(pod, service)
  return {
    ip: found.ip,
    ...(hostname === '' ? {} : { hostname }),
    ...(nodeName === '' ? {} : { nodeName }),
    targetRef: { kind: 'Pod', namespace, name, uid },
  }
}

const labelsFor = (service: Service): Record<string, string> => {
  const { [HEADLESS]: _, ...labels } = service.metadata?.labels ?? {}
  return { ...labels, ...(isHeadless(service) ? { [HEADLESS]: '' } : {}), [MANAGED_BY]: MANAGER }
}

function isRight({ metadata, subsets = [] }: Endpoints, wanted: Wanted): boolean {
  const { labels = {}, annotations = {} } = metadata ?? {}
  return (
    isDeepStrictEqual({ ...labels }, wanted.labels) &&
    (annotations[OVER_CAPACITY] !== undefined) === wanted.isTruncated &&
    isDeepStrictEqual(repackSubsets(subsets), wanted.subsets)
  )
}
