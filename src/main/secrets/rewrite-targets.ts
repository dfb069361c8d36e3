/** Thread: main. Which resources a rewrite goes through: those that the encryption configuration names, as the server serves them. */
import type { ApiClient } from './api-client.js'

export interface RewriteTarget {
  /** The name of the resource: `secrets`, `deployments.apps`. */
  readonly name: string
  /** The path of all its objects: `/api/v1/secrets`. */
  readonly path: string
  readonly namespaced: boolean
  readonly kind: string
  readonly apiVersion: string
}

interface ResourceList {
  readonly groupVersion: string
  readonly resources: readonly {
    readonly name: string
    readonly kind: string
    readonly namespaced: boolean
    readonly verbs: readonly string[]
  }[]
}

/** `wanted`: resource, resource.group, *.group, *.* — the words of an EncryptionConfiguration. */
export async function rewriteTargets(client: ApiClient, wanted: readonly string[]): Promise<RewriteTarget[]> {
  const { groups } = await client.get<{ groups: { preferredVersion: { groupVersion: string } }[] }>('/apis')
  const versions = ['v1', ...groups.map(({ preferredVersion }) => preferredVersion.groupVersion)]
  const targets: RewriteTarget[] = []
  for (const apiVersion of versions) {
    const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
    const group = apiVersion.includes('/') ? apiVersion.split('/')[0]! : ''
    const { resources } = await client.get<ResourceList>(root)
    for (const { name, kind, namespaced, verbs } of resources) {
      if (name.includes('/') || !verbs.includes('list') || !verbs.includes('update')) continue
      const full = group === '' ? name : `${name}.${group}`
      if (wanted.some((rule) => rule === full || rule === `*.${group}` || rule === '*.*'))
        targets.push({ name: full, path: `${root}/${name}`, namespaced, kind, apiVersion })
    }
  }
  return targets
}
