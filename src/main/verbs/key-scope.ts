/** Thread: main. The range of keys in which anything can match. */
import type { Selector } from '../../api/selector.js'
import { prefixEnd } from '../../storage/contract/kv.js'
import type { ServedResource } from './served-resource.js'

/** Keys from start up to end; narrower than the namespace when the field selector names one object. */
export interface KeyScope {
  readonly start: string
  readonly end: string
}

export function scopeOf(resource: ServedResource, namespace: string, field: Selector): KeyScope {
  const within =
    namespace !== '' || !resource.info.namespaced ? namespace : (field.requiresExactMatch('metadata.namespace') ?? '')
  const name = field.requiresExactMatch('metadata.name')
  const plain = (text: string): boolean => text !== '' && !text.includes('/')
  if (name !== undefined && plain(name) && (within !== '' || !resource.info.namespaced)) {
    const key = resource.key(within, name)
    return { start: key, end: `${key}\0` }
  }
  const start = resource.rootKey(plain(within) ? within : '')
  return { start, end: prefixEnd(start) }
}
