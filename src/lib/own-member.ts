/**
 * Thread: any. A member by a name that a client chose. Reading it plainly finds `constructor` and `toString` in every object;
 * tables of our own are made with lookupTable instead.
 */
export function ownMember<T>(members: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  return members !== undefined && Object.hasOwn(members, name) ? members[name] : undefined
}
