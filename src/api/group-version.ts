/** Thread: any. Names of API types and of the paths that serve them. */
export interface GroupResource {
  readonly group: string
  readonly resource: string
}

export interface GroupVersion {
  readonly group: string
  readonly version: string
}

export interface GroupVersionKind extends GroupVersion {
  readonly kind: string
}

export interface GroupVersionResource extends GroupVersion {
  readonly resource: string
}

/** `pods` for the core group, `deployments.apps` for others: the form in flags, errors and metrics. */
export function formatGroupResource({ group, resource }: GroupResource): string {
  return group === '' ? resource : `${resource}.${group}`
}

/** `v1` for the core group, `apps/v1` for others: the form of apiVersion. */
export function formatGroupVersion({ group, version }: GroupVersion): string {
  return group === '' ? version : `${group}/${version}`
}

/** The reverse of formatGroupVersion; undefined when it has more than one slash. */
export function parseGroupVersion(apiVersion: string): GroupVersion | undefined {
  const parts = apiVersion.split('/')
  if (parts.length > 2) return undefined
  return parts.length === 2 ? { group: parts[0]!, version: parts[1]! } : { group: '', version: parts[0]! }
}

/** The reverse of formatGroupResource: up to the first dot it is the resource, all after it the group. */
export function parseGroupResource(text: string): GroupResource {
  const dot = text.indexOf('.')
  return dot === -1 ? { group: '', resource: text } : { group: text.slice(dot + 1), resource: text.slice(0, dot) }
}
