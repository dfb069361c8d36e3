/**
 * Thread: controllers. Pods that nobody will end any more are ended: those on nodes that are gone, those that were deleted before
 * any node had them, those that are being deleted on a node out of service, and, of pods that have ended, those beyond a
 * number that one may keep.
 *
 * What Kubernetes looks for every 20 s is looked at here when a pod or a node changes. A key of the queue is `pod/namespace/name`,
 * `node/name` or `ended`.
 */
import type { Node, Pod, PodCondition } from '../api/generated/kinds/core.v1.js'
import { formatTime } from '../api/time.js'
import type { ControlledResource } from './framework/controlled-resource.js'
import type { Controller, ControllerContext } from './framework/controller.js'
import { failedWith } from './framework/controller-client.js'
import { keyOf, type ObjectPlace, placeOf, type SeenObject } from './framework/seen-object.js'

/** A node may be slower to appear than its pods: so long nothing happens to them. */
const QUARANTINE_MS = 40_000
/** A deletion marks a pod and removes it, in two writes: whoever has begun one is not disturbed. */
const UNDISTURBED_MS = 1_000
const OUT_OF_SERVICE = 'node.kubernetes.io/out-of-service'
const DELETED = Buffer.from('"deletionTimestamp"')
const TAINTED = Buffer.from(OUT_OF_SERVICE)
const ENDED = 'ended'

export const podGarbageCollector: Controller = {
  name: 'pod-garbage-collector-controller',
  account: 'pod-garbage-collector',
  requires: ['pods', 'nodes'],
  start(context) {
    const pods = context.resource('pods')
    const nodes = context.resource('nodes')
    const { terminatedPodThreshold } = context.settings
    const known = new Set<string>()
    const ended = new Set<string>()
    const collector = new PodCollector(context, pods, nodes, ended)
    const work = context.queue({ sync: (key) => collector.sync(key) })
    const quarantine = (node: string): void => work.addAfter(`node/${node}`, QUARANTINE_MS)
    context.follow(nodes, {
      onReset: () => known.clear(),
      onPut: (node) => {
        known.add(node.name)
        if (node.mentions(TAINTED)) work.add(`node/${node.name}`)
      },
      onDelete: ({ name }) => {
        known.delete(name)
        quarantine(name)
      },
    })
    context.follow(pods, {
      onReset: () => ended.clear(),
      onPut: (pod) => {
        const node = pod.field('spec.nodeName')
        if (node !== '' && !known.has(node)) quarantine(node)
        if (pod.mentions(DELETED)) work.addAfter(`pod/${pod.key}`, UNDISTURBED_MS)
        if (!hasEnded(pod)) ended.delete(pod.key)
        else ended.add(pod.key)
        if (terminatedPodThreshold > 0 && ended.size > terminatedPodThreshold) work.add(ENDED)
      },
      onDelete: ({ key }) => void ended.delete(key),
    })
  },
}

const hasEnded = (pod: SeenObject): boolean => {
  const phase = pod.field('status.phase')
  return phase === 'Succeeded' || phase === 'Failed'
}

class PodCollector {
  readonly #context: ControllerContext
  readonly #pods: ControlledResource
  readonly #nodes: ControlledResource
  readonly #ended: ReadonlySet<string>

  constructor(
    context: ControllerContext,
    pods: ControlledResource,
    nodes: ControlledResource,
    ended: ReadonlySet<string>,
  ) {
    this.#context = context
    this.#pods = pods
    this.#nodes = nodes
    this.#ended = ended
  }

  async sync(key: string): Promise<void> {
    if (key === ENDED) await this.#collectEnded()
    else if (key.startsWith('node/')) await this.#collectNode(key.slice('node/'.length))
    else await this.#collectPod(placeOf(key.slice('pod/'.length)))
  }

  /** A pod that is being deleted, and that no kubelet will end. */
  async #collectPod(place: ObjectPlace): Promise<void> {
    const pod = await this.#context.objects.getLive<Pod>(this.#pods, place)
    if (pod?.metadata?.deletionTimestamp === undefined) return
    const nodeName = pod.spec?.nodeName ?? ''
    const node = nodeName === '' ? undefined : await this.#node(nodeName)
    if (nodeName === '' || (node !== undefined && isOutOfService(node))) await this.#end(pod)
  }

  async #collectNode(name: string): Promise<void> {
    const node = await this.#node(name)
    if (node !== undefined && !isOutOfService(node)) return
    for (const pod of await this.#podsOf(name)) {
      if (node === undefined)
        await this.#end(pod, {
          type: 'DisruptionTarget',
          status: 'True',
          reason: 'DeletionByPodGC',
          message: 'PodGC: node no longer exists',
        })
      else if (pod.metadata?.deletionTimestamp !== undefined) await this.#end(pod)
    }
  }

  /** Evicted ones first, then the oldest. */
  async #collectEnded(): Promise<void> {
    const surplus = this.#ended.size - this.#context.settings.terminatedPodThreshold
    if (surplus <= 0) return
    const pods: Pod[] = []
    for (const key of [...this.#ended]) {
      const pod = await this.#context.objects.get<Pod>(this.#pods, placeOf(key))
      if (pod !== undefined) pods.push(pod)
    }
    for (const pod of pods.sort(byEvictionAndAge).slice(0, surplus)) await this.#end(pod)
  }

  async #podsOf(node: string): Promise<Pod[]> {
    const found: Pod[] = []
    await this.#context.objects.visit(this.#pods, '', (pod) => {
      if (pod.field('spec.nodeName') === node) found.push(pod.read<Pod>())
    })
    return found
  }

  #node(name: string): Promise<Node | undefined> {
    return this.#context.objects.getLive<Node>(this.#nodes, { namespace: '', name })
  }

  /** Marks the pod as failed, because nobody else will, and deletes it at once. */
  async #end({ metadata, status }: Pod, condition?: PodCondition): Promise<void> {
    const { client, clock, logger } = this.#context
    const { namespace = '', name = '', uid } = metadata ?? {}
    const place = { namespace, name }
    logger.info({ pod: keyOf(place) }, 'a pod that nobody ends any more is deleted')
    try {
      if (status?.phase !== 'Succeeded' && status?.phase !== 'Failed') {
        const timed = condition && { ...condition, lastTransitionTime: formatTime(clock.now()) }
        const change = { phase: 'Failed', ...(timed === undefined ? {} : { conditions: [timed] }) }
        const body = { metadata: { uid }, status: change }
        await client.patch(this.#pods, place, body, { type: 'strategic', subresource: 'status' })
      }
      await client.delete(this.#pods, place, { uid, gracePeriodSeconds: 0 })
    } catch (error) {
      if (!failedWith(error, 'NotFound') && !failedWith(error, 'Conflict')) throw error
    }
  }
}

const isOutOfService = ({ spec, status }: Node): boolean =>
  (spec?.taints ?? []).some(({ key }) => key === OUT_OF_SERVICE) &&
  !(status?.conditions ?? []).some(({ type, status: is }) => type === 'Ready' && is === 'True')

function byEvictionAndAge(a: Pod, b: Pod): number {
  const rank = ({ metadata, status }: Pod): string =>
    [status?.reason === 'Evicted' ? 0 : 1, metadata?.creationTimestamp, metadata?.name].join(' ')
  return rank(a) < rank(b) ? -1 : 1
}
