/** Thread: controllers. What the signers of Kubernetes ask of a request: the rules for kubelets and for clients. */
import type { AlternativeName, CertificateRequest } from '../../api/x509/certificate-request.js'

export const KUBELET_CLIENT = 'kubernetes.io/kube-apiserver-client-kubelet'
export const KUBELET_SERVING = 'kubernetes.io/kubelet-serving'
export const API_CLIENT = 'kubernetes.io/kube-apiserver-client'
export const LEGACY_UNKNOWN = 'kubernetes.io/legacy-unknown'

/** Why a signer does not sign the request; '' when it does. */
export type RequestRule = (request: CertificateRequest, usages: readonly string[]) => string

const hasNames = ({ names }: CertificateRequest, ...kinds: readonly AlternativeName['kind'][]): boolean =>
  names.some(({ kind }) => kinds.includes(kind))

/** Keys other than RSA's encipher nothing, so that the usage for it may be left out. */
function usagesProblem(usages: readonly string[], purpose: string): string {
  const given = [...new Set(usages)].sort().join()
  const full = ['digital signature', 'key encipherment', purpose].sort()
  const short = ['digital signature', purpose].sort()
  return given === full.join() || given === short.join() ? '' : `usages did not match [${full.join(' ')}]`
}

const ofNode = ({ organizations }: CertificateRequest): string =>
  organizations.length === 1 && organizations[0] === 'system:nodes' ? '' : 'subject organization is not system:nodes'

const nodeName = ({ commonName }: CertificateRequest): string =>
  commonName.startsWith('system:node:') ? '' : 'subject common name does not begin with system:node:'

export const kubeletClientProblem: RequestRule = (request, usages) =>
  ofNode(request) ||
  (hasNames(request, 'dns') ? 'DNS subjectAltNames are not allowed' : '') ||
  (hasNames(request, 'email') ? 'Email subjectAltNames are not allowed' : '') ||
  (hasNames(request, 'ip') ? 'IP subjectAltNames are not allowed' : '') ||
  (hasNames(request, 'uri') ? 'URI subjectAltNames are not allowed' : '') ||
  nodeName(request) ||
  usagesProblem(usages, 'client auth')

const kubeletServingProblem: RequestRule = (request, usages) =>
  ofNode(request) ||
  (hasNames(request, 'dns', 'ip') ? '' : 'DNS or IP subjectAltName is required') ||
  (hasNames(request, 'email') ? 'Email subjectAltNames are not allowed' : '') ||
  (hasNames(request, 'uri') ? 'URI subjectAltNames are not allowed' : '') ||
  usagesProblem(usages, 'server auth') ||
  nodeName(request)

const clientProblem: RequestRule = (_request, usages) => {
  const other = usages.find((usage) => !['digital signature', 'key encipherment', 'client auth'].includes(usage))
  if (other !== undefined) return `invalid usage for client certificate: ${other}`
  return usages.includes('client auth') ? '' : 'missing required usage for client certificate: client auth'
}

/** The signers that this server has, by their names. */
export const SIGNER_RULES: ReadonlyMap<string, RequestRule> = new Map<string, RequestRule>([
  [KUBELET_CLIENT, kubeletClientProblem],
  [KUBELET_SERVING, kubeletServingProblem],
  [API_CLIENT, clientProblem],
  // What was signed before signers had names is signed without a question.
  [LEGACY_UNKNOWN, () => ''],
])
