/**
 * The sequential specification: one object is a register that is created, compared and swapped by resourceVersion, deleted, and
 * kept by finalizers until they are taken away. `step` says whether an operation may give its result in a state, and what is then.
 */
import type { Operation } from './history.js'

export interface RegisterState {
  /** Undefined: there is no object. */
  readonly token: string | undefined
  /** The object's revision; undefined when only an unanswered write or a deletion could tell it. */
  readonly revision: number | undefined
  /** Every later revision is above this one. */
  readonly above: number
  readonly finalizers: boolean
  /** Deleted, and kept by its finalizers. */
  readonly terminating: boolean
  /**
   * The revision of the object that went when its last finalizer was taken, 0 when nobody knows it; undefined when it went otherwise. Whoever took
   * that finalizer from the same state at the same time is told that it was done, as in Kubernetes.
   */
  readonly released?: number | undefined
}

export const ABSENT: RegisterState = {
  token: undefined,
  revision: undefined,
  above: 0,
  finalizers: false,
  terminating: false,
}

export const stateKey = ({ token, revision, above, finalizers, terminating, released }: RegisterState): string =>
  `${token ?? ''} ${revision ?? `>${above}`} ${finalizers ? 'f' : ''}${terminating ? 't' : ''}${released ?? ''}`

/** The state after, or undefined when this operation cannot have had this result here. */
export function step(state: RegisterState, operation: Operation): RegisterState | undefined {
  const { verb, result } = operation
  if (result === 'refused') return state
  if (result === 'unknown') return verb === 'get' ? state : (effect(state, operation) ?? state)
  if (result === 'exists') return verb === 'create' && state.token !== undefined ? state : undefined
  if (result === 'absent') return verb !== 'create' && verb !== 'apply' && state.token === undefined ? state : undefined
  if (result === 'conflict') return conflicts(state, operation) ? state : undefined
  return verb === 'get' ? observe(state, operation) : effect(state, operation)
}

/** A write without an expectation may give up after losing too often: that changes nothing and promises nothing. */
const conflicts = (state: RegisterState, { expected }: Operation): boolean =>
  expected === undefined || state.token === undefined || state.revision !== expected

function observe(state: RegisterState, { seen }: Operation): RegisterState | undefined {
  if (seen === undefined || state.token !== seen.token) return undefined
  return known(state, seen.revision)
}

/** The state with its revision, if it can be this one. */
function known(state: RegisterState, revision: number): RegisterState | undefined {
  if (state.revision !== undefined) return state.revision === revision ? state : undefined
  return revision > state.above ? { ...state, revision, above: revision } : undefined
}

function effect(state: RegisterState, operation: Operation): RegisterState | undefined {
  const { verb, expected } = operation
  if (verb === 'create') return state.token === undefined ? written(state, operation) : undefined
  if (verb === 'apply' && state.token === undefined) return written(state, operation)
  if (state.token === undefined) return isReleasedTwice(state, operation) ? state : undefined
  const met = expected === undefined ? state : known(state, expected)
  if (met === undefined) return undefined
  return verb === 'delete' ? deleted(met, operation) : written(met, operation)
}

function written(state: RegisterState, { token, revision, finalizers }: Operation): RegisterState | undefined {
  const kept = finalizers ?? state.finalizers
  // An update that takes the last finalizer from a deleted object removes it; its answer names no revision of the removal.
  if (state.terminating && !kept) return { ...gone(state), released: state.revision ?? 0 }
  return later({ ...state, token, finalizers: kept, released: undefined }, revision)
}

const isReleasedTwice = ({ released }: RegisterState, { verb, finalizers, expected, revision }: Operation): boolean =>
  released !== undefined &&
  verb !== 'delete' &&
  finalizers === false &&
  revision === undefined &&
  (expected === undefined || released === 0 || expected === released)

function deleted(state: RegisterState, { revision }: Operation): RegisterState | undefined {
  // The time of a deletion goes back with the clock of the server, which is a write.
  if (state.terminating) return revision === undefined ? state : (known(state, revision) ?? later(state, revision))
  return state.finalizers ? later({ ...state, terminating: true }, revision) : gone(state)
}

const gone = ({ above }: RegisterState): RegisterState => ({ ...ABSENT, above })

/** The state with a new revision, which the answer names or nobody knows. */
function later(state: RegisterState, revision: number | undefined): RegisterState | undefined {
  if (revision === undefined) return { ...state, revision: undefined }
  return revision > state.above ? { ...state, revision, above: revision } : undefined
}
