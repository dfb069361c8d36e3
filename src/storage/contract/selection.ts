/** Thread: any. Whether a SelectionPredicate selects everything, and whether it selects an object. */
import type { SelectionPredicate } from './interface.js'

/** True when neither selector can refuse anything. */
export function selectsEverything<T>(predicate: SelectionPredicate<T>): boolean {
  return predicate.label.empty() && predicate.field.empty()
}

export function matchesPredicate<T>(predicate: SelectionPredicate<T>, object: T): boolean {
  if (selectsEverything(predicate)) return true
  const { labels, fields } = predicate.getAttributes(object)
  return predicate.label.matches(labels) && predicate.field.matches(fields)
}
