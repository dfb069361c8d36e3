/**
 * Thread: any. Tables that are asked by names which clients choose. A plain object answers `constructor` and `toString`, too,
 * with what every object has.
 */
export function lookupTable<T>(rows: Readonly<Record<string, T>>): Readonly<Record<string, T>> {
  return Object.freeze(Object.assign(Object.create(null) as Record<string, T>, rows))
}
