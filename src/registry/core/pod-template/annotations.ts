/** Thread: any. Annotations that mean something to pods. */

import { type FieldPath, forbidden, invalid } from '../../../api/field-error.js'
import type { PodSpec, SeccompProfile } from '../../../api/generated/kinds/core.v1.js'
import type { Errors } from '../../../api/validation/checks.js'
import { lookupTable } from '../../../lib/lookup-table.js'
import { localDescendingPath } from './paths.js'
import { allContainers } from './pod-spec.js'

export const MIRROR_POD = 'kubernetes.io/config.mirror'
const DELETION_COST = 'controller.kubernetes.io/pod-deletion-cost'
const SECCOMP_POD = 'seccomp.security.alpha.kubernetes.io/pod'
const SECCOMP_CONTAINER = 'container.seccomp.security.alpha.kubernetes.io/'
export const APP_ARMOR = 'container.apparmor.security.beta.kubernetes.io/'

type Annotations = Readonly<Record<string, string>> | undefined

export function annotationErrors(annotations: Annotations, spec: PodSpec, path: FieldPath): Errors {
  const errors: Errors = []
  for (const [key, value] of Object.entries(annotations ?? {})) {
    if (key === MIRROR_POD && (spec.nodeName ?? '') === '')
      errors.push(invalid(path.key(key), value, 'must set spec.nodeName if mirror pod annotation is set'))
    if (key === DELETION_COST && !isInt32(value)) errors.push(invalid(path.key(key), value, 'must be a 32bit integer'))
    if (key === SECCOMP_POD || key.startsWith(SECCOMP_CONTAINER)) errors.push(...seccompErrors(value, path.child(key)))
    if (key.startsWith(APP_ARMOR)) errors.push(...appArmorErrors(key, value, spec, path))
  }
  return errors
}

/** No plus sign and no leading zeros: what does not print as it was read is taken for a mistake. */
const isInt32 = (text: string): boolean =>
  text === '0' || (/^-?[1-9]\d*$/.test(text) && Number(text) >= -(2 ** 31) && Number(text) < 2 ** 31)

function seccompErrors(profile: string, path: FieldPath): Errors {
  if (['runtime/default', 'docker/default', 'unconfined'].includes(profile)) return []
  if (profile.startsWith('localhost/')) return localDescendingPath(profile.slice('localhost/'.length), path)
  return [invalid(path, profile, 'must be a valid seccomp profile')]
}

function appArmorErrors(key: string, profile: string, spec: PodSpec, path: FieldPath): Errors {
  const name = key.slice(APP_ARMOR.length)
  const errors: Errors = []
  if (!allContainers(spec).some(({ container }) => container.name === name))
    errors.push(invalid(path.key(key), name, 'container not found'))
  if (!['', 'runtime/default', 'unconfined'].includes(profile) && !profile.startsWith('localhost/'))
    errors.push(invalid(path.key(key), profile, `invalid AppArmor profile name: ${JSON.stringify(profile)}`))
  return errors
}

/** The field that says what an annotation of old says. */
export function appArmorProfileOf(annotation: string): SeccompProfile | undefined {
  if (annotation === 'unconfined') return { type: 'Unconfined' }
  if (annotation === 'runtime/default') return { type: 'RuntimeDefault' }
  const localhostProfile = annotation.startsWith('localhost/') ? annotation.slice('localhost/'.length) : ''
  return localhostProfile.trim() === '' ? undefined : { type: 'Localhost', localhostProfile }
}

export function annotationUpdateErrors(next: Annotations, old: Annotations, path: FieldPath): Errors {
  const keys = new Set([...Object.keys(next ?? {}), ...Object.keys(old ?? {})])
  return [...keys]
    .filter((key) => (key === MIRROR_POD || key.startsWith(APP_ARMOR)) && next?.[key] !== old?.[key])
    .map((key) => forbidden(path.key(key), 'may not be added, changed or removed'))
}

/** Fields and annotations that say the same thing must agree. */
export function profileMismatchErrors(annotations: Annotations, spec: PodSpec, path: FieldPath): Errors {
  const errors: Errors = []
  const check = (key: string, profile: SeccompProfile | undefined, at: FieldPath): void => {
    const value = annotations?.[key]
    if (value !== undefined && profile !== undefined) errors.push(...mismatch(value, profile, at))
  }
  check(SECCOMP_POD, spec.securityContext?.seccompProfile, path.child('securityContext', 'seccompProfile'))
  for (const { list, index, container } of allContainers(spec)) {
    const at = path.child(list).index(index).child('securityContext')
    const name = container.name ?? ''
    check(`${SECCOMP_CONTAINER}${name}`, container.securityContext?.seccompProfile, at.child('seccompProfile'))
    if (spec.os?.name === 'windows') continue
    const appArmor = container.securityContext?.appArmorProfile ?? spec.securityContext?.appArmorProfile
    check(`${APP_ARMOR}${name}`, appArmor, at.child('appArmorProfile'))
  }
  return errors
}

const NAMES: Readonly<Record<string, readonly string[]>> = lookupTable({
  Unconfined: ['unconfined'],
  RuntimeDefault: ['runtime/default', 'docker/default'],
})

function mismatch(value: string, { type = '', localhostProfile }: SeccompProfile, path: FieldPath): Errors {
  if (type === 'Localhost') {
    if (!value.startsWith('localhost/')) return [forbidden(path.child('type'), 'annotation and field must match')]
    return value.slice('localhost/'.length) === localhostProfile
      ? []
      : [forbidden(path.child('localhostProfile'), 'annotation and field must match')]
  }
  const names = NAMES[type]
  return names === undefined || names.includes(value)
    ? []
    : [forbidden(path.child('type'), 'annotation and field must match')]
}
