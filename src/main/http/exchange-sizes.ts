/** Thread: main. Sizes of bodies by which an exchange chooses how to receive and how to send them. */

/**
 * Request bodies up to this size are received while their request waits; larger ones stay in the socket until they are
 * read.
 */
export const HELD_BODY_BYTES = 64 * 1024

/**
 * Answers up to this size are written at once: slicing them (BulkTurns) would cost more than it gives the other
 * requests.
 */
export const AT_ONCE_BYTES = 64 * 1024
