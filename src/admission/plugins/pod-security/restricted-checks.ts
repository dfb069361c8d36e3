/** Thread: any. The restricted level: what hardening asks of every pod, on top of the baseline. */
import type { Volume } from '../../../api/generated/kinds/core.v1.js'
import { allContainers } from '../pod.js'
import { isBadSeccomp, maskedProc, seccompFields } from './baseline-checks.js'
import {
  type Check,
  type CheckPod,
  containerList,
  hasUserNamespace,
  isWindows,
  namesWhere,
  plural,
  quoted,
  setters,
  sorted,
} from './check.js'

const VOLUMES: ReadonlySet<string> = new Set([
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'image',
  'persistentVolumeClaim',
  'projected',
  'secret',
])
/** From this version on a pod for Windows need not set what Windows does not have. */
const WINDOWS_SINCE = 25
const USER_NAMESPACES_SINCE = 35

const allowPrivilegeEscalation: CheckPod = ({ spec }, version) => {
  if (version >= WINDOWS_SINCE && isWindows(spec)) return undefined
  const names = namesWhere(spec, ({ securityContext }) => securityContext?.allowPrivilegeEscalation !== false)
  return names.length === 0
    ? undefined
    : {
        reason: 'allowPrivilegeEscalation != false',
        detail: `${containerList(names)} must set securityContext.allowPrivilegeEscalation=false`,
      }
}

const capabilities: CheckPod = ({ spec }, version) => {
  if (version >= WINDOWS_SINCE && isWindows(spec)) return undefined
  const keeping = namesWhere(
    spec,
    ({ securityContext }) => securityContext?.capabilities?.drop?.includes('ALL') !== true,
  )
  const forbidden = (add: readonly string[] = []): string[] => add.filter((name) => name !== 'NET_BIND_SERVICE')
  const adding = namesWhere(spec, ({ securityContext }) => forbidden(securityContext?.capabilities?.add).length > 0)
  const details: string[] = []
  if (keeping.length > 0) details.push(`${containerList(keeping)} must set securityContext.capabilities.drop=["ALL"]`)
  if (adding.length > 0) {
    const bad = sorted(
      allContainers(spec).flatMap(({ securityContext }) => forbidden(securityContext?.capabilities?.add)),
    )
    details.push(`${containerList(adding)} must not include ${quoted(bad)} in securityContext.capabilities.add`)
  }
  return details.length === 0 ? undefined : { reason: 'unrestricted capabilities', detail: details.join('; ') }
}

const typeOf = (volume: Volume): string => Object.keys(volume).find((key) => key !== 'name') ?? 'unknown'

const volumes: CheckPod = ({ spec }) => {
  const bad = (spec.volumes ?? []).filter((volume) => !VOLUMES.has(typeOf(volume)))
  if (bad.length === 0) return undefined
  const types = sorted(bad.map(typeOf))
  const uses = bad.length === 1 ? 'uses' : 'use'
  return {
    reason: 'restricted volume types',
    detail: `${plural('volume', bad.length)} ${quoted(bad.map(({ name = '' }) => name))} ${uses} ${plural('restricted volume type', types.length)} ${quoted(types)}`,
  }
}

const runAsNonRoot: CheckPod = ({ spec }, version) => {
  if (version >= USER_NAMESPACES_SINCE && hasUserNamespace(spec)) return undefined
  const reason = 'runAsNonRoot != true'
  const ofPod = spec.securityContext?.runAsNonRoot
  const who = setters(
    ofPod === false,
    namesWhere(spec, ({ securityContext }) => securityContext?.runAsNonRoot === false),
  )
  if (who !== '') return { reason, detail: `${who} must not set securityContext.runAsNonRoot=false` }
  if (ofPod === true) return undefined
  const open = namesWhere(spec, ({ securityContext }) => securityContext?.runAsNonRoot === undefined)
  return open.length === 0
    ? undefined
    : { reason, detail: `pod or ${containerList(open)} must set securityContext.runAsNonRoot=true` }
}

const isRoot = (user: number | bigint | undefined): boolean => user !== undefined && Number(user) === 0

const runAsUser: CheckPod = ({ spec }, version) => {
  if (version >= USER_NAMESPACES_SINCE && hasUserNamespace(spec)) return undefined
  const who = setters(
    isRoot(spec.securityContext?.runAsUser),
    namesWhere(spec, ({ securityContext }) => isRoot(securityContext?.runAsUser)),
  )
  return who === '' ? undefined : { reason: 'runAsUser=0', detail: `${who} must not set runAsUser=0` }
}

const seccomp: CheckPod = (pod, version) => {
  const { spec } = pod
  if (version >= WINDOWS_SINCE && isWindows(spec)) return undefined
  const bad = seccompFields(pod, version)
  if (bad !== undefined) return bad
  const ofPod = spec.securityContext
  if (ofPod?.seccompProfile !== undefined && !isBadSeccomp(ofPod)) return undefined
  const open = namesWhere(spec, ({ securityContext }) => securityContext?.seccompProfile === undefined)
  return open.length === 0
    ? undefined
    : {
        reason: 'seccompProfile',
        detail: `pod or ${containerList(open)} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"`,
      }
}

const restricted = (id: string, since: number, check: CheckPod, overrides?: string): Check => ({
  id,
  level: 'restricted',
  since,
  check,
  ...(overrides === undefined ? {} : { overrides }),
})

/** The checks in the order in which they are reported. */
export const RESTRICTED_CHECKS: readonly Check[] = [
  restricted('allowPrivilegeEscalation', 8, allowPrivilegeEscalation),
  restricted('capabilities_restricted', 22, capabilities, 'capabilities_baseline'),
  restricted('procMount_restricted', 35, maskedProc, 'procMount'),
  restricted('restrictedVolumes', 0, volumes, 'hostPathVolumes'),
  restricted('runAsNonRoot', 0, runAsNonRoot),
  restricted('runAsUser', 23, runAsUser),
  restricted('seccompProfile_restricted', 19, seccomp, 'seccompProfile_baseline'),
]
