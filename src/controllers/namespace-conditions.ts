/** Thread: any. The conditions by which a namespace tells how its deletion goes: types, reasons and texts are Kubernetes'. */

export interface Condition {
  readonly type: string
  readonly status: 'True' | 'False'
  readonly lastTransitionTime: string
  readonly reason: string
  readonly message: string
}

/** What is left of one resource. */
export interface Remains {
  /** `pods.` or `widgets.example.com`: Kubernetes prints the group after the name, the empty one too. */
  readonly resource: string
  readonly count: number
  /** How many objects have which finalizer. */
  readonly finalizers: ReadonlyMap<string, number>
}

interface Kind {
  readonly type: string
  readonly good: readonly [reason: string, message: string]
  readonly bad: string
}

const KINDS: readonly Kind[] = [
  {
    type: 'NamespaceDeletionDiscoveryFailure',
    good: ['ResourcesDiscovered', 'All resources successfully discovered'],
    bad: 'DiscoveryFailed',
  },
  {
    type: 'NamespaceDeletionGroupVersionParsingFailure',
    good: ['ParsedGroupVersions', 'All legacy kube types successfully parsed'],
    bad: 'GroupVersionParsingFailed',
  },
  {
    type: 'NamespaceDeletionContentFailure',
    good: ['ContentDeleted', 'All content successfully deleted, may be waiting on finalization'],
    bad: 'ContentDeletionFailed',
  },
  {
    type: 'NamespaceContentRemaining',
    good: ['ContentRemoved', 'All content successfully removed'],
    bad: 'SomeResourcesRemain',
  },
  {
    type: 'NamespaceFinalizersRemaining',
    good: ['ContentHasNoFinalizers', 'All content-preserving finalizers finished'],
    bad: 'SomeFinalizersRemain',
  },
]

/** What a round of deletion found. */
export interface DeletionRound {
  readonly remains: readonly Remains[]
  /** What could not be deleted. */
  readonly failures: readonly string[]
  /** Versions of extension API servers that did not say what they serve: `metrics.k8s.io/v1beta1: why`. */
  readonly undiscovered: readonly string[]
}

/** The conditions after a round; those that say the same as before keep their time. */
export function deletionConditions(
  { remains, failures, undiscovered }: DeletionRound,
  before: readonly Condition[] = [],
  { now }: { readonly now: string },
): Condition[] {
  const problems = new Map<string, string>()
  if (undiscovered.length > 0)
    problems.set(
      'NamespaceDeletionDiscoveryFailure',
      `Discovery failed for some groups, ${undiscovered.length} failing: unable to retrieve the complete list of server APIs: ${undiscovered.join(', ')}`,
    )
  if (failures.length > 0)
    problems.set(
      'NamespaceDeletionContentFailure',
      `Failed to delete all resource types, ${failures.length} remaining: ${failures.join(', ')}`,
    )
  const left = remains.map(({ resource, count }) => `${resource} has ${count} resource instances`).sort()
  if (left.length > 0) problems.set('NamespaceContentRemaining', `Some resources are remaining: ${left.join(', ')}`)
  const kept = finalizerTexts(remains)
  if (kept.length > 0)
    problems.set(
      'NamespaceFinalizersRemaining',
      `Some content in the namespace has finalizers remaining: ${kept.join(', ')}`,
    )
  const known = new Set(KINDS.map(({ type }) => type))
  const others = before.filter(({ type }) => !known.has(type))
  return [...others, ...KINDS.map((kind) => condition(kind, problems.get(kind.type), before, now))]
}

function finalizerTexts(remains: readonly Remains[]): string[] {
  const counts = new Map<string, number>()
  for (const { finalizers } of remains)
    for (const [name, count] of finalizers) counts.set(name, (counts.get(name) ?? 0) + count)
  return [...counts].map(([name, count]) => `${name} in ${count} resource instances`).sort()
}

function condition(
  { type, good, bad }: Kind,
  problem: string | undefined,
  before: readonly Condition[],
  now: string,
): Condition {
  const status = problem === undefined ? 'False' : 'True'
  const [reason, message] = problem === undefined ? good : [bad, problem]
  const old = before.find((other) => other.type === type)
  const lastTransitionTime = old?.status === status ? old.lastTransitionTime : now
  return { type, status, lastTransitionTime, reason, message }
}
