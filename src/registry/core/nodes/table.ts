/** Thread: pool. How nodes are printed. */
import type { Node, NodeSystemInfo } from '../../../api/generated/kinds/core.v1.js'
import { age, NONE, tableOf, text } from '../../generic/table-rules.js'

const ROLE_PREFIX = 'node-role.kubernetes.io/'
const ROLE_LABEL = 'kubernetes.io/role'
const wide = { priority: 1 }

function statusText({ spec, status }: Node): string {
  const ready = (status?.conditions ?? []).find(({ type }) => type === 'Ready')
  const words = [ready === undefined ? 'Unknown' : ready.status === 'True' ? 'Ready' : 'NotReady']
  if (spec?.unschedulable === true) words.push('SchedulingDisabled')
  return words.join(',')
}

/** Fields that hold text. */
type TextOf<T> = { [Field in keyof T]-?: string extends T[Field] ? Field : never }[keyof T]

function rolesText({ metadata }: Node): string {
  const roles = new Set<string>()
  for (const [label, value] of Object.entries(metadata?.labels ?? {})) {
    if (label.startsWith(ROLE_PREFIX) && label.length > ROLE_PREFIX.length) roles.add(label.slice(ROLE_PREFIX.length))
    else if (label === ROLE_LABEL && value !== '') roles.add(value)
  }
  return roles.size === 0 ? NONE : [...roles].sort().join(',')
}

const info = ({ status }: Node, name: TextOf<NodeSystemInfo>): string => status?.nodeInfo?.[name] ?? ''
const known = (value: string): string => (value === '' ? '<unknown>' : value)
const addressOf = ({ status }: Node, type: string): string =>
  (status?.addresses ?? []).find((address) => address.type === type)?.address ?? NONE

function kernelText(node: Node): string {
  const architecture = info(node, 'architecture')
  const kernel = known(info(node, 'kernelVersion'))
  return architecture === '' ? kernel : `${kernel} (${architecture})`
}

export const nodeTable = tableOf<Node>(
  text('Status', 'Whether the node is ready and takes pods.', statusText),
  text('Roles', 'What the node is for.', rolesText),
  age(),
  text('Version', 'The version of its kubelet.', (node) => info(node, 'kubeletVersion')),
  text('Internal-IP', 'Its address inside the cluster.', (node) => addressOf(node, 'InternalIP'), wide),
  text('External-IP', 'Its address outside.', (node) => addressOf(node, 'ExternalIP'), wide),
  text('OS-Image', 'Its operating system.', (node) => known(info(node, 'osImage')), wide),
  text('Kernel-Version', 'Its kernel.', kernelText, wide),
  text('Container-Runtime', 'What runs its containers.', (node) => known(info(node, 'containerRuntimeVersion')), wide),
)
