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

/** Histories of a key are short and mostly decided in a few steps an operation; this many mean that a key was used too long. */
const STEPS = 2_000_000

/**
 * Operations of unknown result make the search grow with every order of them, and while a server is down there are many. So it is tried
 * first whether the others can be put in order as if those had never happened, then with those that somebody has seen: each is a choice
 * that the full search has too, so a yes is a yes. Only the full search can say no.
 */
export function linearize(operations: readonly Operation[], steps = STEPS): Search {
  const seen = new Set(operations.map((operation) => operation.seen?.token))
  const choices = [
    operations.filter(({ result }) => result !== 'unknown'),
    operations.filter(({ result, token }) => result !== 'unknown' || token === undefined || seen.has(token)),
  ]
  for (const some of choices)
    if (some.length < operations.length) {
      const search = order(some, steps)
      if (search.verdict === 'yes') return search
    }
  return order(operations, steps)
}

function order(operations: readonly Operation[], steps: number): Search {
  if (operations.length === 0) return { verdict: 'yes' }
  const head = moments(operations)
  let open = operations.filter(({ result }) => result !== 'unknown').length
  let state = ABSENT
  const done = new Array<string>(operations.length).fill('0')
  const tried = new Set<string>()
  const path: { readonly call: Moment; readonly before: typeof state }[] = []
  let longest: Operation[] = []
  let stuck: Operation | undefined
  let moment = head.next
  for (let left = steps; open > 0; left--) {
    if (left === 0) return { verdict: 'undecided' }
    if (moment?.isCall === true) {
      const after = step(state, moment.operation)
      if (after !== undefined && isNew(tried, done, moment.index, stateKey(after))) {
        path.push({ call: moment, before: state })
        if (moment.operation.result !== 'unknown') open--
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

/** Marks the operation as done; false, and not marked, when this set of operations has led to this state before. */
function isNew(tried: Set<string>, done: string[], index: number, state: string): boolean {
  done[index] = '1'
  const key = `${done.join('')} ${state}`
  if (tried.has(key)) {
    done[index] = '0'
    return false
  }
  tried.add(key)
  return true
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
