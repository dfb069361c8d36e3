/**
 * Thread: controllers. Signs certificate requests that were approved, for the signers of Kubernetes whose authority this server
 * has. What a signer does not sign gets the condition Failed.
 */
import type { CertificateSigningRequest } from '../../api/generated/kinds/certificates.v1.js'
import { formatTime } from '../../api/time.js'
import { parseCertificateRequest } from '../../api/x509/certificate-request.js'
import { requestProblem } from '../../api/x509/request-problem.js'
import type { Controller, ControllerContext } from '../framework/controller.js'
import { failedWith } from '../framework/controller-client.js'
import { Unfinished } from '../framework/unfinished.js'
import { signCertificate } from './authority.js'
import { SIGNER_RULES } from './kubelet-requests.js'

const REQUESTS = 'certificatesigningrequests.certificates.k8s.io'
/** Shorter lives are not given: a certificate begins five minutes ago. */
const MIN_LIFE_MS = 600_000

export const certificateSigning: Controller = {
  name: 'certificatesigningrequest-signing-controller',
  account: 'certificate-controller',
  requires: [REQUESTS],
  start(context) {
    const requests = context.resource(REQUESTS)
    const work = context.queue({
      firstPauseMs: 200,
      sync: async (name) => {
        const request = await context.objects.get<CertificateSigningRequest>(requests, { namespace: '', name })
        const status = request && (await signedStatus(context, request))
        if (request === undefined || status === undefined) return
        try {
          await context.client.updateStatus(requests, { ...request, status })
        } catch (error) {
          if (!failedWith(error, 'NotFound')) throw error
        }
      },
    })
    context.follow(requests, { onPut: ({ name }) => work.add(name), onDelete: () => undefined })
  },
}

type RequestStatus = NonNullable<CertificateSigningRequest['status']>

/** The status of a request that is signed, or refused; undefined when there is nothing to do. */
async function signedStatus(
  { settings, clock }: ControllerContext,
  { spec, status = {} }: CertificateSigningRequest,
): Promise<RequestStatus | undefined> {
  const signerName = spec?.signerName ?? ''
  const rule = SIGNER_RULES.get(signerName)
  const files = settings.signing.authorities[signerName]
  if (rule === undefined || files === undefined || !isApproved(status)) return undefined
  if ((status.certificate ?? '') !== '' || hasCondition(status, 'Failed')) return undefined
  const encoded = String(spec?.request ?? '')
  const wrong = requestProblem(encoded)
  if (wrong !== undefined) throw new Unfinished(`the request cannot be read: ${wrong}`)
  const request = parseCertificateRequest(Buffer.from(encoded, 'base64').toString('latin1'))
  const usages = spec?.usages ?? []
  const problem = rule(request, usages)
  if (problem !== '') {
    const now = formatTime(clock.now())
    const reason = 'SignerValidationFailure'
    const failed = {
      type: 'Failed',
      status: 'True',
      reason,
      message: problem,
      lastUpdateTime: now,
      lastTransitionTime: now,
    }
    return { ...status, conditions: [...(status.conditions ?? []), failed] }
  }
  const wishedMs = spec?.expirationSeconds === undefined ? settings.signing.lifeMs : spec.expirationSeconds * 1000
  const lifeMs = Math.min(settings.signing.lifeMs, Math.max(MIN_LIFE_MS, wishedMs))
  const pem = await signCertificate(files, { request, usages, lifeMs, nowMs: clock.now() })
  return { ...status, certificate: Buffer.from(pem).toString('base64') }
}

const hasCondition = ({ conditions }: RequestStatus, wanted: string): boolean =>
  (conditions ?? []).some(({ type, status }) => type === wanted && (status === undefined || status === 'True'))

/** What was denied is not signed, whatever else is said of it. */
const isApproved = (status: RequestStatus): boolean =>
  (status.conditions ?? []).some(({ type }) => type === 'Approved') &&
  !(status.conditions ?? []).some(({ type }) => type === 'Denied')
