/** Thread: pool. A mutation that did not come off; the failure policy decides what that means for the request. */
export class MutationError extends Error {
  override readonly name = 'MutationError'
  readonly code = 'mutation'
}
