/**
 * Thread: controllers. Approves the requests of kubelets for their client certificates: of nodes that renew their own, and of
 * those who may make a node, both when an authorizer allows it. All other requests wait for a person.
 */
import type { CertificateSigningRequest } from '../../api/generated/kinds/certificates.v1.js'
import { formatTime } from '../../api/time.js'
import type { UserInfo } from '../../api/user-info.js'
import { type CertificateRequest, parseCertificateRequest } from '../../api/x509/certificate-request.js'
import type { Controller, ControllerContext } from '../framework/controller.js'
import { failedWith } from '../framework/controller-client.js'
import { Unfinished } from '../framework/unfinished.js'
import { KUBELET_CLIENT, kubeletClientProblem } from './kubelet-requests.js'

const REQUESTS = 'certificatesigningrequests.certificates.k8s.io'

interface Recognizer {
  readonly subresource: string
  readonly message: string
  readonly isIt: (request: CertificateRequest, user: string) => boolean
}

const RECOGNIZERS: readonly Recognizer[] = [
  {
    subresource: 'selfnodeclient',
    message: 'Auto approving self kubelet client certificate after SubjectAccessReview.',
    isIt: ({ commonName }, user) => commonName === user,
  },
  {
    subresource: 'nodeclient',
    message: 'Auto approving kubelet client certificate after SubjectAccessReview.',
    isIt: () => true,
  },
]

export const certificateApproving: Controller = {
  name: 'certificatesigningrequest-approving-controller',
  account: 'certificate-controller',
  requires: [REQUESTS],
  start(context) {
    const requests = context.resource(REQUESTS)
    const work = context.queue({
      firstPauseMs: 200,
      sync: async (name) => {
        const request = await context.objects.get<CertificateSigningRequest>(requests, { namespace: '', name })
        if (request === undefined || isDecided(request)) return
        const message = await approval(context, request)
        if (message === undefined) return
        const now = formatTime(context.clock.now())
        const approved = { type: 'Approved', status: 'True', reason: 'AutoApproved', message, lastUpdateTime: now }
        const status = { ...request.status, conditions: [...(request.status?.conditions ?? []), approved] }
        try {
          await context.client.update(requests, { ...request, status }, 'approval')
        } catch (error) {
          if (!failedWith(error, 'NotFound')) throw error
        }
      },
    })
    context.follow(requests, { onPut: ({ name }) => work.add(name), onDelete: () => undefined })
  },
}

const isDecided = ({ status }: CertificateSigningRequest): boolean =>
  (status?.certificate ?? '') !== '' ||
  (status?.conditions ?? []).some(({ type }) => type === 'Approved' || type === 'Denied')

/**
 * What the approval says; undefined when the request is none of a kubelet. Throws when it is one and its user may not: roles
 * may come later.
 */
async function approval(
  { authorizer }: ControllerContext,
  { metadata, spec }: CertificateSigningRequest,
): Promise<string | undefined> {
  if (spec?.signerName !== KUBELET_CLIENT) return undefined
  const request = parseCertificateRequest(Buffer.from(String(spec.request ?? ''), 'base64').toString('latin1'))
  if (kubeletClientProblem(request, spec.usages ?? []) !== '') return undefined
  const user: UserInfo = {
    name: spec.username ?? '',
    uid: spec.uid ?? '',
    groups: spec.groups ?? [],
    extra: Object.fromEntries(Object.entries(spec.extra ?? {}).map(([name, values]) => [name, values ?? []])),
  }
  const tried = RECOGNIZERS.filter(({ isIt }) => isIt(request, user.name))
  for (const { subresource, message } of tried) {
    const { decision } = await authorizer.authorize({
      isResourceRequest: true,
      user,
      verb: 'create',
      apiGroup: 'certificates.k8s.io',
      apiVersion: '*',
      resource: 'certificatesigningrequests',
      subresource,
      namespace: '',
      name: '',
      path: '',
    })
    if (decision === 'allow') return message
  }
  const names = tried.map(({ subresource }) => subresource).join(' ')
  throw new Unfinished(`recognized csr "${metadata?.name}" as [${names}] but subject access review was not approved`)
}
