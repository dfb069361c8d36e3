/** Thread: pool. Why an address or a port cannot be given: the reason is part of what the client is told. */
export type AllocationFailure = 'full' | 'allocated' | 'not-in-range' | 'mismatched-network' | 'not-ready'

export class AllocationError extends Error {
  override readonly name = 'AllocationError'
  readonly code: AllocationFailure

  constructor(code: AllocationFailure, message: string) {
    super(message)
    this.code = code
  }
}

export const isAllocationError = (error: unknown, code?: AllocationFailure): error is AllocationError =>
  error instanceof AllocationError && (code === undefined || error.code === code)
