/**
 * Thread: any. The controllers that this server has, by the names that kube-controller-manager gives them, and the grammar of
 * `--controllers`: `*` is every one that is on by default, `name` turns one on, `-name` turns one off; the first word about a
 * controller counts. `-*` turns off all that no word turns on.
 */

export interface ControllerName {
  readonly name: string
  /** The name that kube-controller-manager used before, which it still takes. */
  readonly alias: string
  /** True for those that `*` does not mean. */
  readonly offByDefault?: true
}

export const CONTROLLER_NAMES: readonly ControllerName[] = [
  // kube-controller-manager has these two off too: kubeadm turns them on.
  { name: 'bootstrap-signer-controller', alias: 'bootstrapsigner', offByDefault: true },
  { name: 'certificatesigningrequest-approving-controller', alias: 'csrapproving' },
  { name: 'certificatesigningrequest-cleaner-controller', alias: 'csrcleaner' },
  { name: 'certificatesigningrequest-signing-controller', alias: 'csrsigning' },
  { name: 'clusterrole-aggregation-controller', alias: 'clusterrole-aggregation' },
  { name: 'endpoints-controller', alias: 'endpoint' },
  { name: 'endpointslice-controller', alias: 'endpointslice' },
  { name: 'endpointslice-mirroring-controller', alias: 'endpointslicemirroring' },
  { name: 'garbage-collector-controller', alias: 'garbagecollector' },
  { name: 'namespace-controller', alias: 'namespace' },
  { name: 'persistentvolume-protection-controller', alias: 'pv-protection' },
  { name: 'persistentvolumeclaim-protection-controller', alias: 'pvc-protection' },
  { name: 'pod-garbage-collector-controller', alias: 'podgc' },
  { name: 'resourcequota-controller', alias: 'resourcequota' },
  { name: 'root-ca-certificate-publisher-controller', alias: 'root-ca-cert-publisher' },
  { name: 'serviceaccount-controller', alias: 'serviceaccount' },
  { name: 'token-cleaner-controller', alias: 'tokencleaner', offByDefault: true },
  { name: 'ttl-after-finished-controller', alias: 'ttl-after-finished' },
  { name: 'validatingadmissionpolicy-status-controller', alias: 'validatingadmissionpolicy-status-controller' },
]

/** What is wrong with the words of `--controllers`. */
export function controllerErrors(words: readonly string[]): string[] {
  const known = new Set(['*', ...CONTROLLER_NAMES.flatMap(({ name, alias }) => [name, alias])])
  return words
    .filter((word) => !known.has(bare(word)))
    .map((word) => `--controllers: ${JSON.stringify(bare(word))} is not in the list of known controllers`)
}

/** The names of the controllers that the words turn on. */
export function enabledControllers(words: readonly string[]): string[] {
  return CONTROLLER_NAMES.filter((controller) => isEnabled(controller, words)).map(({ name }) => name)
}

function isEnabled({ name, alias, offByDefault }: ControllerName, words: readonly string[]): boolean {
  for (const word of words) {
    if (word === name || word === alias) return true
    if (word === `-${name}` || word === `-${alias}`) return false
  }
  return words.includes('*') && !words.includes('-*') && offByDefault !== true
}

const bare = (word: string): string => (word.startsWith('-') ? word.slice(1) : word)
