/**
 * Thread: pool. Items of a list by their names, the first of each: an update that looks for every item in what was there before
 * would take time by the square of the list, and clients say how long it is.
 */
export function firstByName<T extends { readonly name?: string }>(
  list: readonly T[] | null | undefined,
): ReadonlyMap<string, T> {
  const byName = new Map<string, T>()
  for (const item of list ?? []) {
    const { name = '' } = item
    if (!byName.has(name)) byName.set(name, item)
  }
  return byName
}
