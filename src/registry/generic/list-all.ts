/** Thread: pool. Everything of a resource, for those parts of the server that look at all of it. */
import type { KubeObject } from '../../api/object.js'
import { everything } from '../../api/selector.js'
import type { ListResult, Storage } from '../../storage/contract/interface.js'

const NONE = { get: () => undefined, has: () => false }

/** `newest`: the list is linearizable; otherwise it is what memory has. */
export async function listAll(
  storage: Storage<KubeObject>,
  keyRoot: string,
  { newest }: { readonly newest: boolean },
): Promise<KubeObject[]> {
  const { items } = await list(storage, keyRoot, { resourceVersion: newest ? '' : '0', limit: 0, continueToken: '' })
  return items
}

/** A page of everything; the first one, whose token is '', is linearizable, and those that follow are of its state. */
export function listPage(
  storage: Storage<KubeObject>,
  keyRoot: string,
  page: { readonly limit: number; readonly continueToken: string },
): Promise<ListResult<KubeObject>> {
  return list(storage, keyRoot, { resourceVersion: '', ...page })
}

function list(
  storage: Storage<KubeObject>,
  keyRoot: string,
  options: { readonly resourceVersion: string; readonly limit: number; readonly continueToken: string },
): Promise<ListResult<KubeObject>> {
  const { resourceVersion, limit, continueToken } = options
  return storage.getList(keyRoot, {
    resourceVersion,
    resourceVersionMatch: '',
    recursive: true,
    predicate: {
      label: everything,
      field: everything,
      getAttributes: () => ({ labels: NONE, fields: NONE }),
      limit,
      continueToken,
      allowWatchBookmarks: false,
    },
  })
}
