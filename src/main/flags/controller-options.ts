/** Thread: main. The flags of the controllers that run inside: their names are kube-controller-manager's. */
import { existsSync } from 'node:fs'
import path from 'node:path'
import { controllerErrors, enabledControllers } from '../../controllers/controller-names.js'
import type { ControllerSettings } from '../../protocol/main-controllers.js'
import { flagDurationMs, flagList, flagNumber, flagText } from './flag-values.js'
import type { Flag, FlagValues } from './flags.js'
import type { SecurityConfig } from './security-config.js'

const CONTROLLERS = 'Controllers'

/** The part of the flags' names by the signer that they are for. */
const SIGNERS: ReadonlyMap<string, string> = new Map([
  ['kubernetes.io/kubelet-serving', 'kubelet-serving'],
  ['kubernetes.io/kube-apiserver-client-kubelet', 'kubelet-client'],
  ['kubernetes.io/kube-apiserver-client', 'kube-apiserver-client'],
  ['kubernetes.io/legacy-unknown', 'legacy-unknown'],
])

const signingFlags = (part: string, whose: string): Flag[] =>
  ['cert', 'key'].map((file) => ({
    name: `cluster-signing-${part}${file}-file`,
    type: 'string',
    default: '',
    group: CONTROLLERS,
    help: `The ${file === 'cert' ? 'certificate' : 'key'} that signs approved certificate requests ${whose}.`,
  }))

export const CONTROLLER_FLAGS: readonly Flag[] = [
  {
    name: 'controllers',
    type: 'list',
    default: '*',
    group: CONTROLLERS,
    help: 'Controllers that run in this server: * for all that are on by default, name for one, -name for all but one, -* for none; docs/controllers.md lists them.',
  },
  ...signingFlags('', 'of all signers; without it the authority of --cert-dir, when client certificates are its own'),
  ...[...SIGNERS].flatMap(([signer, part]) => signingFlags(`${part}-`, `of the signer ${signer}`)),
  {
    name: 'cluster-signing-duration',
    type: 'duration',
    default: '8760h',
    group: CONTROLLERS,
    help: 'How long signed certificates last at most.',
  },
  {
    name: 'terminated-pod-gc-threshold',
    type: 'integer',
    default: '12500',
    group: CONTROLLERS,
    help: 'So many pods that have ended may stay before the oldest are deleted; 0: any number.',
  },
]

export function controllerFlagErrors(values: FlagValues): string[] {
  const errors = controllerErrors(flagList(values, 'controllers'))
  for (const part of ['', ...[...SIGNERS.values()].map((name) => `${name}-`)]) {
    const [cert, key] = ['cert', 'key'].map((file) => flagText(values, `cluster-signing-${part}${file}-file`))
    if ((cert === '') !== (key === ''))
      errors.push(`--cluster-signing-${part}cert-file and --cluster-signing-${part}key-file belong together`)
    for (const file of [cert, key])
      if (file !== undefined && file !== '' && !existsSync(file))
        errors.push(`--cluster-signing-${part}*-file: ${file} is not there`)
  }
  if (flagDurationMs(values, 'cluster-signing-duration') <= 0)
    errors.push('--cluster-signing-duration must be positive')
  return errors
}

/** What controllers are told of the flags. */
export type ControllerConfig = Pick<ControllerSettings, 'enabled' | 'signing' | 'terminatedPodThreshold'>

export function controllerConfig(values: FlagValues, security: SecurityConfig): ControllerConfig {
  return {
    enabled: enabledControllers(flagList(values, 'controllers')),
    signing: {
      authorities: authorities(values, security),
      lifeMs: flagDurationMs(values, 'cluster-signing-duration'),
    },
    terminatedPodThreshold: flagNumber(values, 'terminated-pod-gc-threshold'),
  }
}

function authorities(
  values: FlagValues,
  { certDir, clientCaFile, insecureHttp }: SecurityConfig,
): ControllerSettings['signing']['authorities'] {
  const pair = (part: string): { certFile: string; keyFile: string } | undefined => {
    const certFile = flagText(values, `cluster-signing-${part}cert-file`)
    return certFile === '' ? undefined : { certFile, keyFile: flagText(values, `cluster-signing-${part}key-file`) }
  }
  const isOwn = clientCaFile === '' && !insecureHttp
  const own = isOwn ? { certFile: path.join(certDir, 'ca.crt'), keyFile: path.join(certDir, 'ca.key') } : undefined
  const all = [...SIGNERS].map(([signer, part]) => [signer, pair(`${part}-`) ?? pair('') ?? own] as const)
  return Object.fromEntries(
    all.filter(([, files]) => files !== undefined),
  ) as ControllerSettings['signing']['authorities']
}
