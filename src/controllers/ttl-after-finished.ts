/** Thread: controllers. Jobs that have finished are deleted when `ttlSecondsAfterFinished` have passed since. */
import type { Job } from '../api/generated/kinds/batch.v1.js'
import type { Controller } from './framework/controller.js'
import { failedWith } from './framework/controller-client.js'
import { placeOf } from './framework/seen-object.js'

const TTL = Buffer.from('"ttlSecondsAfterFinished"')

export const ttlAfterFinished: Controller = {
  name: 'ttl-after-finished-controller',
  account: 'ttl-after-finished-controller',
  requires: ['jobs.batch'],
  start({ client, clock, objects, resource, follow, queue }) {
    const jobs = resource('jobs.batch')
    const work = queue({
      sync: async (key) => {
        const place = placeOf(key)
        // Somebody may have changed the time until the last moment.
        const job = await objects.getLive<Job>(jobs, place)
        const expiresMs = job && expiresAt(job)
        if (job === undefined || expiresMs === undefined) return
        const leftMs = expiresMs - clock.now()
        if (leftMs > 0) {
          work.addAfter(key, leftMs)
          return
        }
        try {
          await client.delete(jobs, place, { uid: job.metadata?.uid, propagationPolicy: 'Foreground' })
        } catch (error) {
          if (!failedWith(error, 'NotFound')) throw error
        }
      },
    })
    follow(jobs, {
      onPut: (job) => {
        if (job.mentions(TTL) && expiresAt(job.read<Job>()) !== undefined) work.add(job.key)
      },
      onDelete: () => undefined,
    })
  },
}

/** Undefined for a job that has not finished, is not to go by itself, or is going already. */
function expiresAt({ metadata, spec, status }: Job): number | undefined {
  const ttl = spec?.ttlSecondsAfterFinished
  if (ttl === undefined || metadata?.deletionTimestamp !== undefined) return undefined
  const finished = (status?.conditions ?? []).find(
    ({ type, status: is }) => (type === 'Complete' || type === 'Failed') && is === 'True',
  )
  const atMs = Date.parse(finished?.lastTransitionTime ?? '')
  return Number.isNaN(atMs) ? undefined : atMs + Number(ttl) * 1000
}
