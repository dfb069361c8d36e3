const KEYS = 'a URL names a resource, a namespace and a name, not a key: the server makes the key'
const CALLBACK = 'the test changes the storage from inside its own process, where a client is not'
const LIFETIME = 'no client gives an object a time to live: events have that of --event-ttl'
const ENCRYPTION =
  'keys are changed in a file of the server, not by clients: test/integration/encryption-reload.test.ts'

const UNSAFE = 'to delete what cannot be read is behind a feature gate, which is off as in Kubernetes'

/** Behaviours of the storage contract that no client of a server can see, and why. As few as can be. */
export const WITHOUT_HTTP: Readonly<Record<string, string>> = {
  'keys that are empty, climb, or belong to no or another resource are refused by every call': KEYS,
  'the bare resource prefix is no object, but what recursive lists, watches and counts take': KEYS,
  'objects may lie at the name, below a namespace, and at both': 'a resource has namespaces or it has none',
  'nothing lies below an object, nor below the beginning of its name': KEYS,
  'an object created with a TTL goes by itself, and a watch says so': LIFETIME,
  'an object gets the TTL that an update gives it': LIFETIME,
  'an update without TTL keeps the one that is there, and 0 removes it': LIFETIME,
  'an update that changes nothing rewrites what an old key encrypted': ENCRYPTION,
  'what an old key encrypted is rewritten even when the caller brings a copy': ENCRYPTION,
  'a failure to encrypt is the writer’s, and nothing is written': CALLBACK,
  'an unreadable object can be deleted by who says so, and then all is well': UNSAFE,
  'a readable object is not deleted as an unreadable one': UNSAFE,
  'an object that became readable between look and deletion stays': UNSAFE,
  'an unreadable object is not deleted on a uid that nobody can check': UNSAFE,
  'the deletion of an unreadable object is an error to a watch': UNSAFE,
  'an unreadable object counts like the others': 'clients count by lists, and no list holds what cannot be read',
  'when only the stale copy fails the uid precondition the object is deleted': 'the uid of an object never changes',
  'when only the stale copy passes the uid precondition the object stays': 'the uid of an object never changes',
  'the store tells the version up to which history is gone': 'no client is told this version',
  'a storage in use is ready; a closed one is not': 'a check that answers at once; clients ask /readyz and wait',
  'progress of the store arrives as a bookmark with its version, where it is asked for':
    'no client can ask for progress; bookmarks come when the server makes them',
}

const ALONE = 'while the server runs nobody else writes to its folder; stopped and started again it has no watches'

/** The same for a server on the embedded engine, whose folder the test opens while the server is stopped. */
export const WITHOUT_EMBEDDED_HTTP: Readonly<Record<string, string>> = {
  ...WITHOUT_HTTP,
  'a watch that meets an unreadable object ends with an error, and tells nothing after it': ALONE,
  'a watch from the newest version survives a compaction': ALONE,
}

/**
 * Behaviours in which the server differs from Kubernetes today. Each must go on failing or be taken out: at the end
 * this is empty.
 */
export const FAILING_HTTP: Readonly<Record<string, string>> = {}

export const FAILING_EMBEDDED_HTTP: Readonly<Record<string, string>> = {}

/** Of such a table what concerns some behaviours. */
export function among(
  table: Readonly<Record<string, string>>,
  behaviours: readonly { readonly title: string }[],
): Record<string, string> {
  const titles = new Set(behaviours.map(({ title }) => title))
  return Object.fromEntries(Object.entries(table).filter(([title]) => titles.has(title)))
}
