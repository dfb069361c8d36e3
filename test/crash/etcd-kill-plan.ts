/** In flight when the process is killed: so many creations, updates and deletions. */
export const WRITES_OF_A_KIND = 4
