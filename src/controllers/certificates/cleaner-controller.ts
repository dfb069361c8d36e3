/**
 * Thread: controllers. Certificate requests that are over are deleted: an hour after they were approved and signed, denied or
 * failed, a day after they were made or approved and nothing came of them, and when the certificate has expired.
 */
import { X509Certificate } from 'node:crypto'
import type { CertificateSigningRequest } from '../../api/generated/kinds/certificates.v1.js'
import type { Controller } from '../framework/controller.js'
import { failedWith } from '../framework/controller-client.js'

const REQUESTS = 'certificatesigningrequests.certificates.k8s.io'
const HOUR_MS = 3_600_000
const PENDING_MS = 24 * HOUR_MS

export const certificateCleaner: Controller = {
  name: 'certificatesigningrequest-cleaner-controller',
  account: 'certificate-controller',
  requires: [REQUESTS],
  start({ client, clock, objects, resource, follow, queue }) {
    const requests = resource(REQUESTS)
    const work = queue({
      sync: async (name) => {
        const place = { namespace: '', name }
        const request = await objects.getLive<CertificateSigningRequest>(requests, place)
        const overMs = request && overAt(request)
        if (request === undefined || overMs === undefined) return
        const leftMs = overMs - clock.now()
        if (leftMs > 0) {
          work.addAfter(name, leftMs)
          return
        }
        try {
          await client.delete(requests, place, { uid: request.metadata?.uid })
        } catch (error) {
          if (!failedWith(error, 'NotFound') && !failedWith(error, 'Conflict')) throw error
        }
      },
    })
    follow(requests, { onPut: ({ name }) => work.add(name), onDelete: () => undefined })
  },
}

/** When a request is over; undefined when nobody can say. */
export function overAt({ metadata, status = {} }: CertificateSigningRequest): number | undefined {
  const { conditions = [], certificate = '' } = status
  if (conditions.length === 0) return after(metadata?.creationTimestamp, PENDING_MS)
  const isIssued = certificate !== ''
  const times = conditions.flatMap(({ type, lastUpdateTime }) => {
    if (type === 'Denied' || type === 'Failed') return [after(lastUpdateTime, HOUR_MS)]
    if (type !== 'Approved') return []
    return isIssued ? [after(lastUpdateTime, HOUR_MS), endOf(certificate)] : [after(lastUpdateTime, PENDING_MS)]
  })
  const known = times.filter((at) => at !== undefined)
  return known.length === 0 ? undefined : Math.min(...known)
}

function after(time: string | null | undefined, ms: number): number | undefined {
  const at = Date.parse(time ?? '')
  return Number.isNaN(at) ? undefined : at + ms
}

function endOf(certificate: string): number | undefined {
  try {
    return Date.parse(new X509Certificate(Buffer.from(certificate, 'base64')).validTo)
  } catch {
    // What is no certificate does not expire.
    return undefined
  }
}
