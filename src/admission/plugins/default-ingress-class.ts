/** Thread: pool. Ingresses that name no class get the default one. */
import type { Ingress } from '../../api/generated/kinds/networking.v1.js'
import { metadataOf } from '../../api/object.js'
import type { AdmissionAttributes, AdmissionPlugin } from '../chain.js'
import { isAbout } from '../forbid.js'
import { type AdmissionObjects, INGRESS_CLASSES } from '../objects.js'
import { newestDefault } from './newest-default.js'

const ANNOTATION = 'ingressclass.kubernetes.io/is-default-class'
/** The annotation that named the class before there was a field for it. */
const OLD_CLASS = 'kubernetes.io/ingress.class'

export class DefaultIngressClass implements AdmissionPlugin<Ingress> {
  readonly name = 'DefaultIngressClass'
  readonly #objects: AdmissionObjects

  constructor(objects: AdmissionObjects) {
    this.#objects = objects
  }

  handles(attributes: AdmissionAttributes): boolean {
    return isAbout(attributes, 'networking.k8s.io', 'ingresses', 'CREATE')
  }

  async admit({ object }: AdmissionAttributes<Ingress>): Promise<void> {
    if (object === undefined) return
    const spec = object.spec ?? {}
    if (spec.ingressClassName !== undefined || metadataOf(object).annotations?.[OLD_CLASS] !== undefined) return
    const name = newestDefault(await this.#objects.list(INGRESS_CLASSES, ''), ANNOTATION)?.metadata?.name
    if (name === undefined) return
    spec.ingressClassName = name
    object.spec = spec
  }
}
