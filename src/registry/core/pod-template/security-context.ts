/** Thread: any. Security contexts of pods and containers. */

import { duplicate, type FieldPath, forbidden, invalid, required, tooLong } from '../../../api/field-error.js'
import type {
  PodSecurityContext,
  PodSpec,
  SeccompProfile,
  SecurityContext,
  WindowsSecurityContextOptions,
} from '../../../api/generated/kinds/core.v1.js'
import { dnsSubdomain, type Errors, oneOf } from '../../../api/validation/checks.js'
import { userOrGroupId } from './checks.js'
import { localDescendingPath } from './paths.js'

const PROFILE_TYPES = ['Localhost', 'RuntimeDefault', 'Unconfined'] as const
const MAX_PATH = 4095
const MAX_CREDENTIAL_SPEC_BYTES = 64 * 1024

export function securityContextErrors(
  context: SecurityContext | undefined,
  path: FieldPath,
  hostUsers: boolean,
): Errors {
  if (context === undefined) return []
  const errors = [
    ...userOrGroupId(context.runAsUser, path.child('runAsUser')),
    ...userOrGroupId(context.runAsGroup, path.child('runAsGroup')),
  ]
  if (context.procMount !== undefined) {
    errors.push(...oneOf(context.procMount, ['Default', 'Unmasked'], path.child('procMount')))
    if (hostUsers && context.procMount === 'Unmasked')
      errors.push(invalid(path.child('procMount'), context.procMount, '`hostUsers` must be false to use `Unmasked`'))
  }
  errors.push(...seccompErrors(context.seccompProfile, path.child('seccompProfile')))
  if (context.allowPrivilegeEscalation === false) {
    if (context.privileged === true)
      errors.push(invalid(path, context, 'cannot set `allowPrivilegeEscalation` to false and `privileged` to true'))
    for (const capability of context.capabilities?.add ?? [])
      if (capability === 'CAP_SYS_ADMIN')
        errors.push(invalid(path, context, 'cannot set `allowPrivilegeEscalation` to false and add CAP_SYS_ADMIN'))
  }
  errors.push(...windowsErrors(context.windowsOptions, path.child('windowsOptions')))
  errors.push(...appArmorErrors(context.appArmorProfile, path.child('appArmorProfile')))
  return errors
}

export function podSecurityContextErrors(
  context: PodSecurityContext | undefined,
  spec: PodSpec,
  path: FieldPath,
): Errors {
  if (context === undefined) return []
  const optional = (
    field: 'fsGroupChangePolicy' | 'supplementalGroupsPolicy' | 'seLinuxChangePolicy',
    values: string[],
  ) => (context[field] === undefined ? [] : oneOf(context[field], values, path.child(field)))
  return [
    ...userOrGroupId(context.fsGroup, path.child('fsGroup')),
    ...userOrGroupId(context.runAsUser, path.child('runAsUser')),
    ...userOrGroupId(context.runAsGroup, path.child('runAsGroup')),
    ...(context.supplementalGroups ?? []).flatMap((id, i) =>
      userOrGroupId(id, path.child('supplementalGroups').index(i)),
    ),
    ...(spec.shareProcessNamespace === true && spec.hostPID === true
      ? [invalid(path.child('shareProcessNamespace'), true, 'not with hostPID')]
      : []),
    ...sysctlErrors(context.sysctls ?? [], spec, path.child('sysctls')),
    ...optional('fsGroupChangePolicy', ['OnRootMismatch', 'Always']),
    ...seccompErrors(context.seccompProfile, path.child('seccompProfile')),
    ...windowsErrors(context.windowsOptions, path.child('windowsOptions')),
    ...appArmorErrors(context.appArmorProfile, path.child('appArmorProfile')),
    ...optional('supplementalGroupsPolicy', ['Merge', 'Strict']),
    ...optional('seLinuxChangePolicy', ['Recursive', 'MountOption']),
  ]
}

function seccompErrors(profile: SeccompProfile | undefined, path: FieldPath): Errors {
  if (profile === undefined) return []
  const errors = oneOf(profile.type, PROFILE_TYPES, path.child('type'), 'required')
  const at = path.child('localhostProfile')
  if (profile.type === 'Localhost') {
    if (profile.localhostProfile === undefined) errors.push(required(at, 'must be set when seccomp type is Localhost'))
    else errors.push(...localDescendingPath(profile.localhostProfile, at))
  } else if (profile.localhostProfile !== undefined) {
    errors.push(invalid(at, profile, 'can only be set when seccomp type is Localhost'))
  }
  return errors
}

export function appArmorErrors(profile: SeccompProfile | undefined, path: FieldPath): Errors {
  if (profile === undefined) return []
  const { type, localhostProfile } = profile
  const at = path.child('localhostProfile')
  if (type !== 'Localhost') {
    const errors = oneOf(type, PROFILE_TYPES, path.child('type'), 'required')
    if (errors.length === 0 && localhostProfile !== undefined)
      errors.push(invalid(at, localhostProfile, 'can only be set when AppArmor type is Localhost'))
    return errors
  }
  if (localhostProfile === undefined) return [required(at, 'must be set when AppArmor type is Localhost')]
  const errors: Errors = []
  if (localhostProfile.trim() !== localhostProfile)
    errors.push(invalid(at, localhostProfile, 'must not be padded with whitespace'))
  else if (localhostProfile === '') errors.push(required(at, 'must be set when AppArmor type is Localhost'))
  if (Buffer.byteLength(localhostProfile) > MAX_PATH) errors.push(tooLong(at, MAX_PATH))
  return errors
}

const SYSCTL = /^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$/
const IPC_SYSCTL = /^(kernel\.sem$|kernel\.shm|kernel\.msg|fs\.mqueue\.)/

function sysctlErrors(sysctls: NonNullable<PodSecurityContext['sysctls']>, spec: PodSpec, path: FieldPath): Errors {
  const seen = new Set<string>()
  return sysctls.flatMap(({ name = '' }, i) => {
    const at = path.index(i).child('name')
    const errors: Errors = []
    if (name === '') errors.push(required(at))
    else if (name.length > 253 || !SYSCTL.test(name))
      errors.push(invalid(at, name, 'must have at most 253 characters and be the name of a kernel parameter'))
    else if (seen.has(name)) errors.push(duplicate(at, name))
    const dotted = name.replaceAll('/', '.')
    if (spec.hostNetwork === true && dotted.startsWith('net.'))
      errors.push(invalid(at, name, "may not be specified when 'hostNetwork' is true"))
    else if (spec.hostIPC === true && IPC_SYSCTL.test(dotted))
      errors.push(invalid(at, name, "may not be specified when 'hostIPC' is true"))
    seen.add(name)
    return errors
  })
}

const NETBIOS = /^[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}$/
const DOMAIN = /^[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$/

function windowsErrors(options: WindowsSecurityContextOptions | undefined, path: FieldPath): Errors {
  if (options === undefined) return []
  const { gmsaCredentialSpecName, gmsaCredentialSpec, runAsUserName } = options
  const errors: Errors = []
  if (gmsaCredentialSpecName !== undefined)
    errors.push(...dnsSubdomain(gmsaCredentialSpecName, path.child('gmsaCredentialSpecName')))
  if (gmsaCredentialSpec !== undefined) {
    const size = Buffer.byteLength(gmsaCredentialSpec)
    if (size === 0 || size > MAX_CREDENTIAL_SPEC_BYTES)
      errors.push(invalid(path.child('gmsaCredentialSpec'), gmsaCredentialSpec, 'must be between 1 byte and 64 KiB'))
  }
  if (runAsUserName !== undefined)
    errors.push(
      ...userNameReasons(runAsUserName).map((reason) => invalid(path.child('runAsUserName'), runAsUserName, reason)),
    )
  return errors
}

/** DOMAIN\user or user. */
function userNameReasons(name: string): string[] {
  if (name === '') return ['runAsUserName cannot be an empty string']
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  if (/[\u0000-\u001f\u007f]/.test(name)) return ['runAsUserName cannot contain control characters']
  const parts = name.split('\\')
  if (parts.length > 2) return ['runAsUserName cannot contain more than one backslash']
  const user = parts[parts.length - 1]!
  const domain = parts.length === 2 ? parts[0]! : undefined
  const reasons: string[] = []
  if ((domain ?? '').length >= 256) reasons.push("runAsUserName's Domain length must be under 256 characters")
  if (domain !== undefined && !NETBIOS.test(domain) && !DOMAIN.test(domain))
    reasons.push("runAsUserName's Domain doesn't match the NetBios nor the DNS format")
  if (user === '') reasons.push("runAsUserName's User cannot be empty")
  else if (user.length > 104) reasons.push("runAsUserName's User length must not be longer than 104 characters")
  if (/^[. ]+$/.test(user)) reasons.push("runAsUserName's User cannot contain only periods or spaces")
  if (/["/\\:;|=,+*?<>@[\]]/.test(user)) reasons.push("runAsUserName's User contains a character that is not allowed")
  return reasons
}

/** Pods of HostProcess containers have no others, and use the host's network. */
export function hostProcessErrors(
  spec: PodSpec,
  containers: readonly { path: FieldPath; context: SecurityContext | undefined }[],
  path: FieldPath,
): Errors {
  const ofPod = spec.securityContext?.windowsOptions?.hostProcess
  const errors: Errors = []
  let count = 0
  for (const { path: at, context } of containers) {
    const own = context?.windowsOptions?.hostProcess
    if (ofPod !== undefined && own !== undefined && ofPod !== own)
      errors.push(
        invalid(
          at.child('securityContext', 'windowsOptions', 'hostProcess'),
          own,
          `must be as the pod has it: ${ofPod}`,
        ),
      )
    if (own ?? ofPod ?? false) count++
  }
  if (count === 0) return errors
  if (count !== containers.length)
    errors.push(invalid(path, '', 'if one container is a HostProcess container, all must be'))
  if (spec.hostNetwork !== true)
    errors.push(invalid(path.child('hostNetwork'), false, 'must be true if pod contains any hostProcess containers'))
  return errors
}

const NOT_ON_WINDOWS_POD = [
  'appArmorProfile',
  'seLinuxOptions',
  'seccompProfile',
  'fsGroup',
  'fsGroupChangePolicy',
  'sysctls',
  'runAsUser',
  'runAsGroup',
  'supplementalGroups',
  'supplementalGroupsPolicy',
  'seLinuxChangePolicy',
] as const
const NOT_ON_WINDOWS_CONTAINER = [
  'appArmorProfile',
  'seLinuxOptions',
  'seccompProfile',
  'capabilities',
  'readOnlyRootFilesystem',
  'privileged',
  'allowPrivilegeEscalation',
  'procMount',
  'runAsUser',
  'runAsGroup',
] as const

/** What makes no sense on the operating system that the pod is for. */
export function osErrors(
  spec: PodSpec,
  containers: readonly { path: FieldPath; context: SecurityContext | undefined }[],
  path: FieldPath,
): Errors {
  const os = spec.os?.name
  const at = path.child('securityContext')
  if (os === 'linux') {
    const contexts = [{ path, context: spec.securityContext as SecurityContext | undefined }, ...containers]
    return contexts
      .filter(({ context }) => context?.windowsOptions !== undefined)
      .map(({ path: holder }) =>
        forbidden(holder.child('securityContext', 'windowsOptions'), 'windows options cannot be set for a linux pod'),
      )
  }
  const refused = (where: FieldPath) => forbidden(where, 'cannot be set for a windows pod')
  return [
    ...NOT_ON_WINDOWS_POD.filter((field) => spec.securityContext?.[field] !== undefined).map((field) =>
      refused(at.child(field)),
    ),
    ...(['hostUsers', 'shareProcessNamespace'] as const)
      .filter((field) => spec[field] !== undefined)
      .map((field) => refused(path.child(field))),
    ...(['hostPID', 'hostIPC'] as const)
      .filter((field) => spec[field] === true)
      .map((field) => refused(path.child(field))),
    ...containers.flatMap(({ path: holder, context }) =>
      NOT_ON_WINDOWS_CONTAINER.filter((field) => context?.[field] !== undefined).map((field) =>
        refused(holder.child('securityContext', field)),
      ),
    ),
  ]
}
