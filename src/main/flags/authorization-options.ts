/** Thread: main. The flags of authorization, and what is wrong with their values. */
import { AUTHORIZATION_MODES } from '../../protocol/authorization-config.js'
import { flagList, flagText } from './flag-values.js'
import type { Flag, FlagValues } from './flags.js'

const ACCESS = 'Access'

export const AUTHORIZATION_FLAGS: readonly Flag[] = [
  {
    name: 'authorization-config',
    type: 'string',
    default: '',
    group: ACCESS,
    help: 'File of an AuthorizationConfiguration: who decides what a user may do, several webhooks included. Read again when it changes; instead of --authorization-mode and --authorization-webhook-*.',
  },
  {
    name: 'authorization-mode',
    type: 'list',
    default: 'RBAC',
    group: ACCESS,
    help: 'Who decides what a user may do, in order: RBAC, Node, Webhook, AlwaysAllow, AlwaysDeny.',
  },
  {
    name: 'authorization-webhook-config-file',
    type: 'string',
    default: '',
    group: ACCESS,
    help: 'The kubeconfig of the service that the mode Webhook asks.',
  },
  {
    name: 'authorization-webhook-version',
    type: 'string',
    default: 'v1beta1',
    group: ACCESS,
    help: 'The version of the SubjectAccessReview that it is sent: v1 or v1beta1.',
  },
  {
    name: 'authorization-webhook-cache-authorized-ttl',
    type: 'duration',
    default: '5m',
    group: ACCESS,
    help: 'How long its answers that allow are kept.',
  },
  {
    name: 'authorization-webhook-cache-unauthorized-ttl',
    type: 'duration',
    default: '30s',
    group: ACCESS,
    help: 'How long its other answers are kept.',
  },
]

export function authorizationErrors(values: FlagValues): string[] {
  const errors: string[] = []
  const modes = flagList(values, 'authorization-mode')
  const file = flagText(values, 'authorization-webhook-config-file')
  if (modes.length === 0) errors.push('--authorization-mode needs at least one mode')
  for (const mode of new Set(modes)) {
    if (!(AUTHORIZATION_MODES as readonly string[]).includes(mode))
      errors.push(
        `--authorization-mode: ${JSON.stringify(mode)} is unknown; the modes are ${AUTHORIZATION_MODES.join(', ')}`,
      )
    if (modes.indexOf(mode) !== modes.lastIndexOf(mode))
      errors.push(`--authorization-mode: ${mode} is given more than once`)
  }
  if (modes.includes('Webhook') && file === '')
    errors.push('--authorization-mode Webhook needs --authorization-webhook-config-file')
  if (!modes.includes('Webhook') && file !== '')
    errors.push('--authorization-webhook-config-file is of no use without --authorization-mode Webhook')
  if (!['v1', 'v1beta1'].includes(flagText(values, 'authorization-webhook-version')))
    errors.push('--authorization-webhook-version must be v1 or v1beta1')
  return errors
}
