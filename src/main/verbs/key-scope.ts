/** Thread: main. The range of keys in which the objects of a list or watch can lie. */
import type { Selector } from '../../api/selector.js'
import { type KeyRange, keyRange } from '../../cacher/read/key-range.js'
import type { ServedResource } from './served-resource.js'

/** The range is narrower than the namespace when the field selector names one object. */
export function scopeOf(resource: ServedResource, namespace: string, field: Selector): KeyRange {
  const within =
    namespace !== '' || !resource.info.namespaced ? namespace : (field.requiresExactMatch('metadata.namespace') ?? '')
  const name = field.requiresExactMatch('metadata.name')
  const plain = (text: string): boolean => text !== '' && !text.includes('/')
  if (name !== undefined && plain(name) && (within !== '' || !resource.info.namespaced))
    return keyRange(resource.key(within, name), false)
  return keyRange(resource.rootKey(plain(within) ? within : ''), true)
}
