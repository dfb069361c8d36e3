/**
 * Whether the operations on one object can be put into one order in which each takes effect between its call and its answer and
 * the register gives every result: the search of Wing and Gong, with Lowe's memory of what was tried (the set of operations done and the
 * state after them). An operation of unknown result may be put anywhere after its call, or nowhere.
 */
import type { Operation } from './history.js'
import { ABSENT, stateKey, step } from './register.js'

/** A moment in the list of calls and answers that are not yet put in order. */
interface Moment {
  readonly index: number
  readonly operation: Operation
  /** Of a call: its answer; undefined when none came. Answers have none. */
  readonly answer?: Moment
  readonly isCall: boolean
  previous: Moment | undefined
  next: Moment | undefined
}

export type Search =
  | { readonly verdict: 'yes' }
  /** The longest order that could be made, and what could not follow it. */
  | { readonly verdict: 'no'; readonly order: readonly Operation[]; readonly stuck: Operation }
  /** The budget of steps is spent. */
  | { readonly verdict: 'undecided' }

/** Instead of the token of a write that was not answered and that nobody saw. */
const UNSEEN = '?'

/** Histories of a key are short and mostly decided in a few steps an operation; this many mean that a key was used too long. */
const STEPS = 2_000_000

/**
 * Operations of unknown result make the search grow with every order of them, and while a server is down there are many. So it is tried
 * first whether the others can be put in order as if those had never happened, then with those that somebody has seen: each is a choice
 * that the full search has too, so a yes is a yes. Only the full search can say no.
 */
export function linearize(given: readonly Operation[], steps = STEPS): Search {
  const seen = new Set(given.map((operation) => operation.seen?.token))
  // What nobody saw of an unanswered write cannot be told from what nobody saw of another.
  const operations = given.map((operation) =>
    operation.result === 'unknown' && operation.token !== undefined && !seen.has(operation.token)
      ? { ...operation, token: UNSEEN }
      : operation,
  )
  const choices = [
    operations.filter(({ result }) => result !== 'unknown'),
    operations.filter(({ result, token }) => result !== 'unknown' || token !== UNSEEN),
  ]
  for (const some of choices)
    if (some.length < operations.length) {
      const search = order(some, steps)
      if (search.verdict === 'yes') return search
    }
  return order(operations, steps)
}

function order(some: readonly Operation[], steps: number): Search {
  // What may be left out stands behind what may not: so the memory of what was done falls into two.
  const answered = some.filter(({ result }) => result !== 'unknown')
  const operations = [...answered, ...some.filter(({ result }) => result === 'unknown')]
  if (operations.length === 0) return { verdict: 'yes' }
  const head = moments(operations)
  const alike = alikeBefore(operations)
  let open = answered.length
  let state = ABSENT
  const done = new Array<string>(operations.length).fill('0')
  const tried = new Map<string, string[]>()
  const path: { readonly call: Moment; readonly before: typeof state }[] = []
  let longest: Operation[] = []
  let stuck: Operation | undefined
  let moment = head.next
  for (let left = steps; open > 0; left--) {
    if (left === 0) return { verdict: 'undecided' }
    if (moment?.isCall === true) {
      const { index, operation } = moment
      const after = step(state, operation)
      // Whatever may be left out is not tried where it changes nothing, nor before one like it that may go first.
      const isIdle = operation.result === 'unknown' && (after === state || isLate(alike[index], done))
      if (!isIdle && after !== undefined && isNew(tried, done, answered.length, [index, stateKey(after)])) {
        path.push({ call: moment, before: state })
        if (operation.result !== 'unknown') open--
        state = after
        lift(moment)
        moment = head.next
      } else moment = moment.next
      continue
    }
    if (moment !== undefined && (stuck === undefined || path.length > longest.length)) {
      longest = path.map(({ call }) => call.operation)
      stuck = moment.operation
    }
    const last = path.pop()
    if (last === undefined) return { verdict: 'no', order: longest, stuck: stuck! }
    state = last.before
    done[last.call.index] = '0'
    if (last.call.operation.result !== 'unknown') open++
    unlift(last.call)
    moment = last.call.next
  }
  return { verdict: 'yes' }
}

/**
 * Marks the operation as done; false, and not marked, when the same answered operations have led to this state before by none but
 * unanswered ones that are done here too: whatever can follow here could follow there.
 */
function isNew(
  tried: Map<string, string[]>,
  done: string[],
  answered: number,
  [index, state]: readonly [number, string],
): boolean {
  done[index] = '1'
  const all = done.join('')
  const key = `${all.slice(0, answered)} ${state}`
  const unanswered = all.slice(answered)
  const before = tried.get(key)
  if (before?.some((fewer) => isWithin(fewer, unanswered)) === true) {
    done[index] = '0'
    return false
  }
  if (before === undefined) tried.set(key, [unanswered])
  else before.push(unanswered)
  return true
}

function isWithin(fewer: string, more: string): boolean {
  for (let i = 0; i < fewer.length; i++) if (fewer[i] === '1' && more[i] === '0') return false
  return true
}

/** The one like it that was asked for before is still to come. */
const isLate = (before: number | undefined, done: readonly string[]): boolean =>
  before !== undefined && done[before] === '0'

/** Of each unanswered operation: the one that was asked for last before it and would do the same, so that either may stand for the other. */
function alikeBefore(operations: readonly Operation[]): (number | undefined)[] {
  const last = new Map<string, number>()
  const before = new Array<number | undefined>(operations.length).fill(undefined)
  const byCall = [...operations.keys()].sort((a, b) => operations[a]!.calledMs - operations[b]!.calledMs || a - b)
  for (const index of byCall) {
    const { result, verb, token, expected, finalizers } = operations[index]!
    if (result !== 'unknown') continue
    const kind = `${verb} ${token} ${expected} ${finalizers}`
    before[index] = last.get(kind)
    last.set(kind, index)
  }
  return before
}

function moments(operations: readonly Operation[]): Moment {
  const timed: { moment: Moment; atMs: number }[] = []
  for (const [index, operation] of operations.entries()) {
    const { calledMs, returnedMs } = operation
    const base = { index, operation, previous: undefined, next: undefined }
    const answer = operation.result === 'unknown' ? undefined : { ...base, isCall: false }
    timed.push({ moment: { ...base, isCall: true, ...(answer && { answer }) }, atMs: calledMs })
    if (answer !== undefined) timed.push({ moment: answer, atMs: returnedMs ?? Infinity })
  }
  // At the same moment calls come first: whoever answers then has been overlapped.
  timed.sort((a, b) => a.atMs - b.atMs || Number(b.moment.isCall) - Number(a.moment.isCall))
  const head: Moment = { index: -1, operation: operations[0]!, isCall: true, previous: undefined, next: undefined }
  let last = head
  for (const { moment } of timed) {
    last.next = moment
    moment.previous = last
    last = moment
  }
  return head
}

function lift(call: Moment): void {
  for (const moment of [call, call.answer]) {
    if (moment === undefined) continue
    moment.previous!.next = moment.next
    if (moment.next !== undefined) moment.next.previous = moment.previous
  }
}

/** Puts back what `lift` took out, in the opposite order. */
function unlift(call: Moment): void {
  for (const moment of [call.answer, call]) {
    if (moment === undefined) continue
    moment.previous!.next = moment
    if (moment.next !== undefined) moment.next.previous = moment
  }
}
