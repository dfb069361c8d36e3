/** Thread: pool. CertificateSigningRequests: who asks is what the server knows; what is asked never changes. */

import { X509Certificate } from 'node:crypto'
import { duplicate, FieldPath, forbidden, invalid, notSupported, required, tooLong } from '../../../api/field-error.js'
import type {
  CertificateSigningRequest,
  CertificateSigningRequestCondition,
} from '../../../api/generated/kinds/certificates.v1.js'
import { humanDuration } from '../../../api/human-duration.js'
import { pemBlocks } from '../../../api/pem.js'
import { because, type Errors, each, type List, sameValue } from '../../../api/validation/checks.js'
import { isDns1123Label, isDns1123Subdomain } from '../../../api/validation/names.js'
import { requestProblem } from '../../../api/x509/request-problem.js'
import type { PartRules, ResourceRules } from '../../generic/resource-rules.js'
import { formatTime } from '../../generic/system-fields.js'
import { age, NONE, tableOf, text } from '../../generic/table-rules.js'

const SPEC = FieldPath.of('spec')
const SIGNER = SPEC.child('signerName')
const CONDITIONS = FieldPath.of('status', 'conditions')
const CERTIFICATE = FieldPath.of('status', 'certificate')
const MIN_SECONDS = 600
const MAX_SIGNER_BYTES = 571
const LEGACY_SIGNER = 'kubernetes.io/legacy-unknown'
const USAGES = [
  'any',
  'cert sign',
  'client auth',
  'code signing',
  'content commitment',
  'crl sign',
  'data encipherment',
  'decipher only',
  'digital signature',
  'email protection',
  'encipher only',
  'ipsec end system',
  'ipsec tunnel',
  'ipsec user',
  'key agreement',
  'key encipherment',
  'microsoft sgc',
  'netscape sgc',
  'ocsp signing',
  's/mime',
  'server auth',
  'signing',
  'timestamping',
]

/** The first label that breaks the rule speaks for the others. */
const firstWrong = (labels: readonly string[], rule: (label: string) => string[], name: string): Errors =>
  because(labels.map(rule).find((reasons) => reasons.length > 0) ?? [], SIGNER, name)

/** example.com/signer: a domain of two labels at least, and a path of subdomains. */
function signerErrors(name: string): Errors {
  if (name === '') return [required(SIGNER)]
  const [domain = '', path = '', ...rest] = name.split('/')
  if (!name.includes('/') || rest.length > 0)
    return [invalid(SIGNER, name, "must be a fully qualified domain and path of the form 'example.com/signer-name'")]
  const labels = domain.split('.')
  return [
    ...(labels.length < 2 ? [invalid(SIGNER, name, 'should be a domain with at least two segments')] : []),
    ...firstWrong(labels, isDns1123Label, name),
    ...firstWrong(path.split('.'), isDns1123Subdomain, name),
    ...(Buffer.byteLength(name) > MAX_SIGNER_BYTES ? [tooLong(SIGNER, MAX_SIGNER_BYTES)] : []),
  ]
}

function usageErrors(usages: List<string>): Errors {
  const path = SPEC.child('usages')
  if ((usages?.length ?? 0) === 0) return [required(path)]
  const seen = new Set<string>()
  return each(usages, path, (usage, at) => {
    const errors = USAGES.includes(usage) ? [] : [notSupported(at, usage, USAGES)]
    if (seen.has(usage)) errors.push(duplicate(at, usage))
    seen.add(usage)
    return errors
  })
}

function conditionErrors(conditions: List<CertificateSigningRequestCondition>): Errors {
  const seen = new Set<string>()
  return each(conditions, CONDITIONS, ({ type = '', status = '' }, at) => {
    const errors: Errors = type === '' ? [required(at.child('type'))] : []
    const allowed = ['Approved', 'Denied', 'Failed'].includes(type) ? ['True'] : ['True', 'False', 'Unknown']
    if (status === '') errors.push(required(at.child('status')))
    else if (!allowed.includes(status)) errors.push(notSupported(at.child('status'), status, allowed))
    const opposite = type === 'Approved' ? 'Denied' : type === 'Denied' ? 'Approved' : ''
    if (opposite !== '' && seen.has(opposite))
      errors.push(invalid(CONDITIONS, type, 'Approved and Denied conditions are mutually exclusive'))
    if (seen.has(type)) errors.push(duplicate(at.child('type'), type))
    seen.add(type)
    return errors
  })
}

function certificateErrors(base64: string | undefined): Errors {
  if ((base64 ?? '') === '') return []
  const text = Buffer.from(base64!, 'base64').toString('latin1')
  const blocks = pemBlocks(text)
  const wrong = (why: string): Errors => [invalid(CERTIFICATE, '<certificate data>', why)]
  if (blocks.length === 0) return wrong('must contain at least one CERTIFICATE PEM block')
  if (blocks.some(({ label }) => label !== 'CERTIFICATE')) return wrong('only CERTIFICATE PEM blocks are allowed')
  return blocks.every(({ text: block }) => isCertificate(block)) ? [] : wrong('a certificate cannot be read')
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0
  } catch (error) {
    if (error instanceof Error) return false
    throw error
  }
}

function validate(object: CertificateSigningRequest): Errors {
  const { spec = {}, status } = object
  const problem = requestProblem(spec.request ?? '')
  const { expirationSeconds: seconds } = spec
  return [
    ...(problem === undefined ? [] : [invalid(SPEC.child('request'), spec.request ?? '', problem)]),
    ...usageErrors(spec.usages),
    ...(spec.signerName === LEGACY_SIGNER
      ? [invalid(SIGNER, spec.signerName, 'the legacy signerName is not allowed via this API version')]
      : signerErrors(spec.signerName ?? '')),
    ...(seconds !== undefined && seconds < MIN_SECONDS
      ? [invalid(SPEC.child('expirationSeconds'), seconds, 'may not be less than 600 seconds (10 minutes)')]
      : []),
    ...conditionErrors(status?.conditions),
    ...certificateErrors(status?.certificate),
  ]
}

const ofType = (object: CertificateSigningRequest, type: string): CertificateSigningRequestCondition[] =>
  (object.status?.conditions ?? []).filter((condition) => condition.type === type)

/** What each endpoint may do to the status: approvals belong to one, the certificate to another. */
function changeErrors(
  object: CertificateSigningRequest,
  old: CertificateSigningRequest,
  may: 'approve' | 'issue' | 'neither',
): Errors {
  const errors: Errors = []
  for (const type of ['Approved', 'Denied', 'Failed']) {
    const [now, before] = [ofType(object, type), ofType(old, type)]
    if (now.length < before.length)
      errors.push(forbidden(CONDITIONS, `updates may not remove a condition of type ${type}`))
    else if (may !== 'approve' && type !== 'Failed' && !sameValue(now, before))
      errors.push(forbidden(CONDITIONS, `updates may not add or modify a condition of type ${type}`))
  }
  const [now, before] = [object, old].map((csr) => csr.status?.certificate ?? '')
  if (now !== before && (may !== 'issue' || before !== ''))
    errors.push(forbidden(CERTIFICATE, 'updates may not set or modify existing certificate content'))
  return errors
}

/** Conditions that a client adds or changes carry the server's time. */
function stampConditions(object: CertificateSigningRequest, old: CertificateSigningRequest, nowMs: number): void {
  const keyOf = ({ type, status }: CertificateSigningRequestCondition): string => JSON.stringify([type, status])
  const known = new Map((old.status?.conditions ?? []).toReversed().map((condition) => [keyOf(condition), condition]))
  for (const condition of object.status?.conditions ?? []) {
    condition.lastUpdateTime ??= formatTime(nowMs)
    if (condition.lastTransitionTime) continue
    condition.lastTransitionTime = known.get(keyOf(condition))?.lastTransitionTime ?? formatTime(nowMs)
  }
}

function keepSpec(object: CertificateSigningRequest, old: CertificateSigningRequest): void {
  if (old['spec'] === undefined) delete object['spec']
  else object['spec'] = structuredClone(old['spec'])
}

function conditionText({ status }: CertificateSigningRequest): string {
  const has = (type: string): boolean => (status?.conditions ?? []).some((condition) => condition.type === type)
  const words = [has('Denied') ? 'Denied' : has('Approved') ? 'Approved' : 'Pending']
  if (has('Failed')) words.push('Failed')
  if ((status?.certificate ?? '') !== '') words.push('Issued')
  return words.join(',')
}

/** The approval endpoint: conditions alone. */
const approvalRules: PartRules<CertificateSigningRequest> = {
  writes: 'status',
  resetFields: [['spec'], ['status', 'certificate']],
  prepareForUpdate: (object, old, context) => {
    stampConditions(object, old, context.now())
    const { conditions } = object.status ?? {}
    keepSpec(object, old)
    const kept = { ...old.status }
    delete kept.conditions
    object['status'] = conditions === undefined ? kept : { ...kept, conditions }
  },
  validateUpdate: (object, old) => [...validate(object), ...changeErrors(object, old, 'approve')],
}

export const certificateSigningRequestRules: ResourceRules<CertificateSigningRequest> = {
  subresources: { approval: approvalRules },
  resetFields: [['spec'], ['status']],
  nameRule: () => [],
  prepareForCreate: (object, { user }) => {
    const csr = object
    csr.spec ??= {}
    for (const field of ['username', 'uid', 'groups', 'extra'] as const) delete csr.spec[field]
    if (user.name !== '') csr.spec.username = user.name
    if (user.uid !== '') csr.spec.uid = user.uid
    if (user.groups.length > 0) csr.spec.groups = [...user.groups]
    if (Object.keys(user.extra).length > 0) csr.spec.extra = structuredClone(user.extra) as Record<string, string[]>
  },
  prepareForUpdate: keepSpec,
  validate,
  validateUpdate: (object, old) => [...validate(object), ...changeErrors(object, old, 'neither')],
  status: {
    resetFields: [['spec'], ['status', 'conditions']],
    prepareForUpdate: (object, old, context) => {
      const csr = object
      csr.status ??= {}
      // Approvals are not this endpoint's: they stay as they are.
      const mine = (csr.status.conditions ?? []).filter(({ type }) => type !== 'Approved' && type !== 'Denied')
      const conditions = [...ofType(old, 'Approved'), ...ofType(old, 'Denied'), ...mine]
      if (conditions.length > 0) csr.status.conditions = conditions
      else delete csr.status.conditions
      stampConditions(object, old, context.now())
    },
    validateUpdate: (object, old) => [...validate(object), ...changeErrors(object, old, 'issue')],
  },
  table: tableOf<CertificateSigningRequest>(
    age(),
    text('SignerName', 'Who should sign.', ({ spec }) => spec?.signerName ?? ''),
    text('Requestor', 'Who asked.', ({ spec }) => spec?.username ?? ''),
    text('RequestedDuration', 'How long the certificate should be valid.', ({ spec }) =>
      spec?.expirationSeconds === undefined ? NONE : humanDuration(spec.expirationSeconds * 1000),
    ),
    text('Condition', 'How far it is.', conditionText),
  ),
}
