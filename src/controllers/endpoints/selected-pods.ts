/**
 * Thread: controllers. Which pods a service selects, and which services must be looked at when a pod changes. Of pods that some
 * service selects a small form is kept, so that a change of one pod parses one pod: bounded by the number of such pods.
 */
import { isDeepStrictEqual } from 'node:util'
import type { Pod, Service } from '../../api/generated/kinds/core.v1.js'
import { labelsAsSelector } from '../../api/label-selector-object.js'
import type { Selector } from '../../api/selector.js'
import type { ControlledResource } from '../framework/controlled-resource.js'
import type { ControllerContext } from '../framework/controller.js'
import type { SeenObject } from '../framework/seen-object.js'
import { type EndpointPod, endpointPod } from './endpoint-pod.js'

interface KnownPod {
  readonly revision: number
  readonly pod: EndpointPod
}

export class SelectedPods {
  readonly #context: ControllerContext
  readonly #pods: ControlledResource
  readonly #services: ControlledResource
  readonly #look: (service: string) => void
  /** Selectors of services: namespace, key of the service. */
  readonly #selectors = new Map<string, Map<string, Selector>>()
  readonly #known = new Map<string, KnownPod>()

  /** `look` is called with the key of every service that must be looked at. */
  constructor(context: ControllerContext, look: (service: string) => void) {
    this.#context = context
    this.#pods = context.resource('pods')
    this.#services = context.resource('services')
    this.#look = look
  }

  follow(): void {
    this.#context.follow(this.#services, {
      onReset: () => this.#selectors.clear(),
      onPut: (service) => this.#putService(service),
      onDelete: ({ namespace, key }) => {
        this.#selectors.get(namespace)?.delete(key)
        if (this.#selectors.get(namespace)?.size === 0) this.#selectors.delete(namespace)
        this.#look(key)
      },
    })
    this.#context.follow(this.#pods, {
      onReset: () => this.#known.clear(),
      onPut: (pod, previous) => this.#putPod(pod, previous),
      onDelete: (pod) => {
        this.#known.delete(pod.key)
        for (const service of this.#servicesOf(pod)) this.#look(service)
      },
    })
  }

  /** The pods that the service selects, as memory has them now. */
  async of(service: Service): Promise<EndpointPod[]> {
    const selector = labelsAsSelector(service.spec?.selector)
    const found: EndpointPod[] = []
    await this.#context.objects.visit(this.#pods, service.metadata?.namespace ?? '', (pod) => {
      if (selector.matches(pod.labels)) found.push(this.#read(pod))
    })
    return found
  }

  #putService(seen: SeenObject): void {
    const { namespace, key } = seen
    const selector = seen.read<Service>().spec?.selector
    let inNamespace = this.#selectors.get(namespace)
    if (selector === undefined) inNamespace?.delete(key)
    else {
      if (inNamespace === undefined) {
        inNamespace = new Map()
        this.#selectors.set(namespace, inNamespace)
      }
      inNamespace.set(key, labelsAsSelector(selector))
    }
    this.#look(key)
  }

  #putPod(pod: SeenObject, previous: SeenObject | undefined): void {
    const now = this.#servicesOf(pod)
    const before = previous === undefined ? [] : this.#servicesOf(previous)
    if (now.length === 0 && before.length === 0) {
      this.#known.delete(pod.key)
      return
    }
    const known = this.#known.get(pod.key)
    const isSame = known !== undefined && isDeepStrictEqual(known.pod, this.#read(pod))
    if (now.length === 0) this.#known.delete(pod.key)
    const changed = isSame
      ? [...now.filter((key) => !before.includes(key)), ...before.filter((key) => !now.includes(key))]
      : new Set([...now, ...before])
    for (const key of changed) this.#look(key)
  }

  #servicesOf({ namespace, labels }: SeenObject): string[] {
    const selectors = this.#selectors.get(namespace)
    if (selectors === undefined) return []
    return [...selectors].filter(([, selector]) => selector.matches(labels)).map(([key]) => key)
  }

  #read(seen: SeenObject): EndpointPod {
    const known = this.#known.get(seen.key)
    if (known?.revision === seen.revision) return known.pod
    const pod = endpointPod(seen.read<Pod>())
    this.#known.set(seen.key, { revision: seen.revision, pod })
    return pod
  }
}
