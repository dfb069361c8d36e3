import t from 'tap'
import { everyBehaviour } from './behaviours.js'

/**
 * The storage tests of Kubernetes v1.36 by name (benchmarks aside),
 * and how the titles begin that say the same of ours.
 */
const KUBERNETES_TESTS: Record<string, readonly string[]> = {
  RunTestCreate: ['create stores the object', 'create refuses an object that has a version'],
  RunTestCreateWithTTL: ['an object created with a TTL goes by itself'],
  RunTestCreateWithKeyExist: ['create of a key that exists fails'],
  RunTestGet: [
    'get without a version',
    'get at version 0',
    'get at a version gives',
    'get at the newest version',
    'get at a version in the future',
    'get of a missing key',
  ],
  RunTestUnconditionalDelete: ['delete gives the last state', 'delete of a missing key fails'],
  RunTestConditionalDelete: ['delete with the right uid deletes', 'delete honours a precondition on the version'],
  RunTestDeleteWithSuggestion: ['delete with a current copy deletes without reading'],
  RunTestDeleteWithSuggestionAndConflict: ['delete with a stale copy deletes the live object'],
  RunTestDeleteWithConflict: ['an update between validation and deletion is validated again'],
  RunTestDeleteWithSuggestionOfDeletedObject: ['delete with a copy of a deleted object'],
  RunTestValidateDeletionWithSuggestion: ['a refusal on a current copy is final'],
  RunTestValidateDeletionWithOnlySuggestionValid: ['when only the stale copy passes the validation'],
  RunTestPreconditionalDeleteWithSuggestion: ['when only the stale copy fails the uid precondition'],
  RunTestPreconditionalDeleteWithOnlySuggestionPass: ['when only the stale copy passes the uid precondition'],
  RunTestList: [
    'a list holds everything below its key',
    'a list of nothing',
    'a list at an exact version gives',
    'a list at an exact version before the first write',
    'a list not older than a version',
    'without a match rule',
    'a list at a version in the future',
    'a malformed version or an unknown match rule',
    'a limit that takes in everything',
    'a page costs one read',
    'pages of a list at an exact version',
    'pages begun at version 0',
    'a page with a selector that is full',
    'a token together with a version',
    'a token that no server made',
    'a list holds what its label selector selects',
  ],
  RunTestConsistentList: [
    'a list has the version of the whole store, also when only another resource moved it',
    'a list has the version of the whole store, also when somebody writes outside its prefix',
    'a list at version 0 is never newer',
    'a token with version -1',
  ],
  RunTestGetListNonRecursive: [
    'a list of one key holds',
    'a list of one key follows',
    'a list of one key applies the selector',
  ],
  RunTestGetListRecursivePrefix: ['prefixes end at slashes'],
  RunTestListContinuation: ['pages hold every object once', 'a token may be followed with another limit'],
  RunTestListPaginationRareObject: ['a rare match is found by reading in growing chunks'],
  RunTestListContinuationWithFilter: ['pages with a selector hold every match once'],
  RunTestListInconsistentContinuation: ['an expired token fails as too old'],
  RunTestListResourceVersionMatch: ['what a list says at its version'],
  RunTestGuaranteedUpdate: [
    'an update of a missing key fails',
    'an update that changes nothing writes nothing',
    'an update honours a uid precondition',
  ],
  RunTestGuaranteedUpdateWithTTL: ['an object gets the TTL that an update gives it'],
  RunTestGuaranteedUpdateChecksStoredData: [
    'whether something changed is judged by stored bytes',
    'an update that changes nothing rewrites what an old key encrypted',
    'what an old key encrypted is rewritten even when',
  ],
  RunTestGuaranteedUpdateWithConflict: ['the loser of a race runs again', 'of many updates at once none is lost'],
  RunTestGuaranteedUpdateWithSuggestionAndConflict: [
    'a failure on a stale copy is tried again',
    'a write on a stale copy is made again',
  ],
  RunTestTransformationFailure: ['an object that cannot be decrypted fails get, list, update and delete'],
  RunTestStats: ['stats follow'],
  RunTestListPaging: ['what is created, changed and deleted between pages'],
  RunTestNamespaceScopedList: ['a list holds what its field selector selects'],
  RunTestCompactRevision: ['the store tells the version up to which history is gone', 'a list at a compacted version'],
  RunTestKeySchema: ['keys that are empty', 'the bare resource prefix', 'objects may lie at the name'],
  RunTestWatch: [
    'a watch tells creation, change and deletion',
    'an object that comes to match is ADDED',
    'a deletion of what did not match',
  ],
  RunTestWatchFromZero: [
    'a watch from 0 tells objects as they are now',
    'a watch from 0 works after a compaction',
    'a watch from a compacted version',
  ],
  RunTestDeleteTriggerWatch: ['a deletion carries the last state'],
  RunTestWatchFromNonZero: ['a watch from a version delivers'],
  RunTestDelayedWatchDelivery: ['events that were queued when a watch is stopped'],
  RunTestWatchError: ['a watch that meets an unreadable object'],
  RunTestWatchWithUnsafeDelete: ['the deletion of an unreadable object is an error to a watch'],
  RunTestWatchContextCancel: ['a watch whose request is already cancelled'],
  RunTestWatcherTimeout: ['watchers that never read hold up nobody else'],
  RunTestWatchDeleteEventObjectHaveLatestRV: ['a deletion carries the last state'],
  RunTestWatchInitializationSignal: ['a watch is open as soon as the call returns'],
  RunTestClusterScopedWatch: ['a watch of a cluster-scoped name'],
  RunTestNamespaceScopedWatch: [
    'a watch of all namespaces',
    'a watch of a namespace by its key or by a field selector',
    'a watch of a name by field selector',
    'a watch by an indexed field',
    'a watch by the negation of a field',
    'a watch of a name in one namespace by indexed field',
  ],
  RunTestWatchDispatchBookmarkEvents: ['who did not ask for bookmarks gets none', 'who asked for bookmarks gets one'],
  RunTestOptionalWatchBookmarksWithCorrectResourceVersion: ['versions of events and bookmarks never go back'],
  RunOptionalTestProgressNotify: ['progress of the store arrives as a bookmark'],
  RunSendInitialEventsBackwardCompatibility: [
    'watch with version unset, initial events true, bookmarks not wanted',
    'watch with version zero, initial events true, bookmarks not wanted',
  ],
  RunWatchSemantics: [
    'watch with version unset, initial events unset',
    'watch with version zero, initial events unset',
    'watch with version first, initial events false',
    'watch with version current, initial events true',
  ],
  RunWatchSemanticInitialEventsExtended: ['the mark after the initial events has the version of the store'],
  RunWatchListMatchSingle: ['initial events of one name'],
  RunWatchErrorIsBlockingFurtherEvents: [
    'a watch that meets an unreadable object ends with an error, and tells nothing',
  ],
}

t.test('every storage behaviour that Kubernetes tests has its place in the suite', async (t) => {
  for (const [name, beginnings] of Object.entries(KUBERNETES_TESTS)) {
    const missing = beginnings.filter((start) => !everyBehaviour.some(({ title }) => title.startsWith(start)))
    t.same(missing, [], name)
  }
})

t.test('the suite has at least 60 behaviours', async (t) => {
  t.ok(everyBehaviour.length >= 60)
  t.comment(`${everyBehaviour.length} behaviours`)
})
