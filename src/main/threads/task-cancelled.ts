/** Thread: any. A task of the pool that was given up before it began: nobody waits for its result. */
export class TaskCancelled extends Error {
  override readonly name = 'TaskCancelled'
}
