/** Thread: pool. Every container pulls its image, so that only who may pull an image can run it. */

import { FieldPath, notSupported } from '../../api/field-error.js'
import type { Pod, PodSpec } from '../../api/generated/kinds/core.v1.js'
import { newInvalid } from '../../api/status.js'
import type { AdmissionAttributes, AdmissionPlugin } from '../chain.js'
import { type AnyContainer, allContainers } from './pod.js'

const LISTS = ['initContainers', 'containers', 'ephemeralContainers'] as const

export class AlwaysPullImages implements AdmissionPlugin<Pod> {
  readonly name = 'AlwaysPullImages'

  handles({ operation, resource, subresource }: AdmissionAttributes): boolean {
    return (
      (operation === 'CREATE' || operation === 'UPDATE') &&
      resource.group === '' &&
      resource.resource === 'pods' &&
      (subresource === '' || subresource === 'ephemeralcontainers')
    )
  }

  admit({ operation, object, oldObject }: AdmissionAttributes<Pod>): void {
    const spec = object?.spec
    if (spec === undefined || (operation === 'UPDATE' && bringsNoImage(spec, oldObject?.spec))) return
    for (const container of allContainers(spec)) {
      // Only containers are set: the image of a volume is pulled by the kubelet's own rules.
      container.imagePullPolicy = 'Always'
    }
  }

  validate({ operation, object, oldObject, name }: AdmissionAttributes<Pod>): void {
    const spec = object?.spec
    if (spec === undefined || (operation === 'UPDATE' && bringsNoImage(spec, oldObject?.spec))) return
    const errors = LISTS.flatMap((list) =>
      (spec[list] ?? []).flatMap((container, i) =>
        container.imagePullPolicy === 'Always'
          ? []
          : [
              notSupported(
                FieldPath.of('spec', list).index(i).child('imagePullPolicy'),
                container.imagePullPolicy ?? '',
                ['Always'],
              ),
            ],
      ),
    )
    if (errors.length > 0) throw newInvalid({ group: '', kind: 'Pod' }, name, errors)
  }
}

/** Whether the pod brings no new image: pods from before the plugin was turned on may still be updated. */
function bringsNoImage(spec: PodSpec, old: PodSpec | undefined): boolean {
  const known = new Set(allContainers(old ?? {}).map(keyOf))
  return allContainers(spec).every((container) => known.has(keyOf(container)))
}

const keyOf = ({ name, image }: AnyContainer): string => `${name} ${image}`
