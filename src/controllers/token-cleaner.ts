/** Thread: controllers. Bootstrap tokens are deleted when they expire. */
import type { Secret } from '../api/generated/kinds/core.v1.js'
import { timeMs } from '../api/time.js'
import type { Controller } from './framework/controller.js'
import { failedWith } from './framework/controller-client.js'
import { placeOf, type SeenObject } from './framework/seen-object.js'

const NAMESPACE = 'kube-system'
const TYPE = 'bootstrap.kubernetes.io/token'

export const tokenCleaner: Controller = {
  name: 'token-cleaner-controller',
  account: 'token-cleaner',
  requires: ['secrets'],
  start({ client, clock, objects, resource, follow, queue }) {
    const secrets = resource('secrets')
    const work = queue({
      sync: async (key) => {
        const place = placeOf(key)
        const secret = await objects.getLive<Secret>(secrets, place)
        const expiration = secret === undefined ? '' : tokenField(secret, 'expiration')
        if (secret?.type !== TYPE || expiration === '') return
        const leftMs = timeMs(expiration) - clock.now()
        if (leftMs > 0) {
          work.addAfter(key, leftMs)
          return
        }
        try {
          // A time that is none is over.
          await client.delete(secrets, place, { uid: secret.metadata?.uid })
        } catch (error) {
          if (!failedWith(error, 'NotFound') && !failedWith(error, 'Conflict')) throw error
        }
      },
    })
    follow(secrets, {
      onPut: (secret) => {
        if (isToken(secret)) work.add(secret.key)
      },
      onDelete: () => undefined,
    })
  },
}

/** Whether a secret is a bootstrap token, by what can be seen without parsing it. */
export const isToken = (secret: SeenObject): boolean => secret.namespace === NAMESPACE && secret.field('type') === TYPE

export const tokenField = ({ data }: Secret, name: string): string =>
  Buffer.from(String(data?.[name] ?? ''), 'base64').toString('utf8')
