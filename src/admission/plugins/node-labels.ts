/** Thread: any. Labels that a kubelet may put on its own node: others would steer what runs there. */

const KUBELET_LABELS: ReadonlySet<string> = new Set([
  'kubernetes.io/hostname',
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
  'node.kubernetes.io/instance-type',
  'beta.kubernetes.io/instance-type',
  'kubernetes.io/os',
  'kubernetes.io/arch',
  'node.kubernetes.io/windows-build',
  'beta.kubernetes.io/os',
  'beta.kubernetes.io/arch',
])
const KUBELET_DOMAINS = ['kubelet.kubernetes.io', 'node.kubernetes.io']
const RESTRICTED = 'node-restriction.kubernetes.io'

/** The keys that differ between two sets of labels and that a kubelet may not touch. */
export function forbiddenNodeLabels(
  next: Readonly<Record<string, string>>,
  old: Readonly<Record<string, string>>,
): string[] {
  const keys = new Set([...Object.keys(next), ...Object.keys(old)])
  return [...keys].filter((key) => next[key] !== old[key] && isForbidden(key)).sort()
}

function isForbidden(key: string): boolean {
  const slash = key.indexOf('/')
  const domain = slash < 0 ? '' : key.slice(0, slash)
  const within = (parent: string): boolean => domain === parent || domain.endsWith(`.${parent}`)
  if (within(RESTRICTED)) return true
  if (!within('kubernetes.io') && !within('k8s.io')) return false
  return !KUBELET_LABELS.has(key) && !KUBELET_DOMAINS.some(within)
}
