/**
 * Thread: main. The flags of a server that stands behind another one: who somebody is, and what they may, is asked of that other
 * server. The names are those of Kubernetes' library for extension API servers.
 */
import path from 'node:path'
import { flagBoolean, flagList, flagText } from './flag-values.js'
import type { Flag, FlagValues } from './flags.js'

const DELEGATION = 'Behind another server'

export const DELEGATION_FLAGS: readonly Flag[] = [
  {
    name: 'authentication-kubeconfig',
    type: 'string',
    default: '',
    group: DELEGATION,
    help: 'Kubeconfig of the server that knows tokens (TokenReview) and whose front proxy and client certificates are believed.',
  },
  {
    name: 'authentication-skip-lookup',
    type: 'boolean',
    default: 'false',
    group: DELEGATION,
    help: 'Whether the authorities are left to the flags, and kube-system/extension-apiserver-authentication is not read.',
  },
  {
    name: 'authentication-tolerate-lookup-failure',
    type: 'boolean',
    default: 'false',
    group: DELEGATION,
    help: 'Whether the server starts when those authorities cannot be read yet.',
  },
  {
    name: 'authorization-kubeconfig',
    type: 'string',
    default: '',
    group: DELEGATION,
    help: 'Kubeconfig of the server that decides (SubjectAccessReview), instead of --authorization-mode.',
  },
  {
    name: 'authorization-always-allow-paths',
    type: 'list',
    default: '/healthz,/readyz,/livez',
    group: DELEGATION,
    help: 'Paths that everybody may ask for without that server being asked; * at the end stands for whatever follows.',
  },
]

export const DELEGATION_FILES: readonly string[] = ['authentication-kubeconfig', 'authorization-kubeconfig']

/** Where the authorities of the other server's front proxy and clients are looked up. */
export interface ClusterTrustConfig {
  readonly kubeconfigFile: string
  readonly tolerateFailure: boolean
  /** What flags give is not taken from there. */
  readonly wantsClientCa: boolean
  readonly wantsFrontProxy: boolean
}

/** Undefined when nothing is looked up. */
export function clusterTrustConfig(values: FlagValues): ClusterTrustConfig | undefined {
  const file = flagText(values, 'authentication-kubeconfig')
  if (file === '' || flagBoolean(values, 'authentication-skip-lookup')) return undefined
  return {
    kubeconfigFile: path.resolve(file),
    tolerateFailure: flagBoolean(values, 'authentication-tolerate-lookup-failure'),
    wantsClientCa: flagText(values, 'client-ca-file') === '',
    wantsFrontProxy: flagText(values, 'requestheader-client-ca-file') === '',
  }
}

export function delegationErrors(values: FlagValues): string[] {
  const errors: string[] = []
  const given = (name: string): boolean => flagText(values, name) !== ''
  if (given('authentication-kubeconfig')) {
    if (given('authentication-token-webhook-config-file'))
      errors.push('--authentication-kubeconfig and --authentication-token-webhook-config-file cannot both be asked')
    if (flagBoolean(values, 'insecure-http'))
      errors.push('--authentication-kubeconfig is of no use with --insecure-http')
  } else
    for (const name of ['authentication-skip-lookup', 'authentication-tolerate-lookup-failure'])
      if (flagBoolean(values, name)) errors.push(`--${name} needs --authentication-kubeconfig`)
  if (given('authorization-kubeconfig') && given('authorization-webhook-config-file'))
    errors.push('--authorization-kubeconfig and --authorization-webhook-config-file cannot both be asked')
  for (const allowed of flagList(values, 'authorization-always-allow-paths')) {
    const star = allowed.indexOf('*')
    if (!allowed.startsWith('/') || (star >= 0 && star < allowed.length - 1))
      errors.push(
        `--authorization-always-allow-paths: ${JSON.stringify(allowed)} must begin with / and have * at its end alone`,
      )
  }
  return errors
}
