/** Thread: controllers. A volume that is deleted while a claim is bound to it stays until it is not. */
import type { PersistentVolume } from '../api/generated/kinds/core.v1.js'
import { keepFinalizer } from './finalizer-keeper.js'
import type { Controller } from './framework/controller.js'

export const persistentVolumeProtection: Controller = {
  name: 'persistentvolume-protection-controller',
  account: 'pv-protection-controller',
  requires: ['persistentvolumes'],
  start(context) {
    const resource = context.resource('persistentvolumes')
    keepFinalizer({
      context,
      resource,
      finalizer: 'kubernetes.io/pv-protection',
      isUsed: (volume: PersistentVolume) => Promise.resolve(volume.status?.phase === 'Bound'),
    })
  },
}
