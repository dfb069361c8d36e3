/** Thread: pool. Everything of a resource, for those parts of the server that look at all of it. */
import type { KubeObject } from '../../api/object.js'
import { everything } from '../../api/selector.js'
import type { Storage } from '../../storage/contract/interface.js'

const NONE = { get: () => undefined, has: () => false }

/** `newest` is linearizable; otherwise it is what memory has. */
export async function listAll(
  storage: Storage<KubeObject>,
  keyRoot: string,
  { newest }: { readonly newest: boolean },
): Promise<KubeObject[]> {
  const { items } = await storage.getList(keyRoot, {
    resourceVersion: newest ? '' : '0',
    resourceVersionMatch: '',
    recursive: true,
    predicate: {
      label: everything,
      field: everything,
      getAttributes: () => ({ labels: NONE, fields: NONE }),
      limit: 0,
      continueToken: '',
      allowWatchBookmarks: false,
    },
  })
  return items
}
