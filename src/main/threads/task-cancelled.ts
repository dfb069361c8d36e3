/** Thread: any. The error of a pool task that was given up before it began, because nobody waits for its result. */
export class TaskCancelled extends Error {
  override readonly name = 'TaskCancelled'
}
