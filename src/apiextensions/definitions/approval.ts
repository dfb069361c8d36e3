/** Thread: any. Groups of the Kubernetes community, and the annotation that says who agreed to a definition in one of them. */
import type { Condition } from './conditions.js'

export const APPROVED = 'api-approved.kubernetes.io'
const COMMUNITY_GROUP = /(^|\.)(k8s|kubernetes)\.io$/
const SEE = 'see https://github.com/kubernetes/enhancements/pull/1111'

export type Approval = 'missing' | 'invalid' | 'approved' | 'bypassed'

export const isCommunityGroup = (group: string): boolean => COMMUNITY_GROUP.test(group)

export function approvalOf(annotations: Readonly<Record<string, string>> | undefined): Approval {
  const text = annotations?.[APPROVED] ?? ''
  if (text === '') return 'missing'
  if (text.startsWith('unapproved')) return 'bypassed'
  return URL.canParse(text) && new URL(text).host !== '' ? 'approved' : 'invalid'
}

/** Undefined for groups that need nobody's approval. */
export function approvalCondition(
  group: string,
  annotations: Readonly<Record<string, string>> | undefined,
): Condition | undefined {
  if (!isCommunityGroup(group)) return undefined
  const type = 'KubernetesAPIApprovalPolicyConformant'
  const text = annotations?.[APPROVED] ?? ''
  const needed = `protected groups must have approval annotation ${JSON.stringify(APPROVED)}`
  switch (approvalOf(annotations)) {
    case 'approved':
      return { type, status: 'True', reason: 'ApprovedAnnotation', message: `approved in ${text}` }
    case 'bypassed':
      return { type, status: 'False', reason: 'UnapprovedAnnotation', message: `not approved: ${JSON.stringify(text)}` }
    case 'missing':
      return { type, status: 'False', reason: 'MissingAnnotation', message: `${needed}, ${SEE}` }
    case 'invalid':
      return {
        type,
        status: 'False',
        reason: 'InvalidAnnotation',
        message: `${needed} with either a URL or a reason starting with "unapproved", ${SEE}`,
      }
  }
}
