/**
 * Thread: any. How libraries declare functions; src/api/cel/library has them, library/libraries.ts says from which version on
 * each one is there.
 *
 * - `call` gets values as values/value.ts represents them: an int is a number while it is safe and a bigint beyond, a double
 *   that is whole is a `Double`, a uint a `Uint`. It is only called with values that are of the parameters' types (what was dyn
 *   is looked at before), never with errors, and gives a value or a CelError. It is pure: calls with literals run once.
 *   Lists and maps come in several representations: read them with values/lists.ts and values/maps.ts.
 * - `meter` is for work that is more than the arguments' own sizes: what nests deep, what is copied.
 * - `cost` is what the call has cost, with Kubernetes' numbers; 1 when not given.
 * - `estimate` is what it can cost; 1 when not given, or when it gives undefined.
 * - Methods, not function types: implementations may say `call: (text: string) => ...`.
 */
import type { Estimator } from './cost/estimate.js'
import type { Macro } from './macro.js'
import type { CelType } from './types.js'
import type { CelValue, Meter } from './values/value.js'

export interface Overload {
  /** As CEL and Kubernetes call it; no two overloads of an environment have the same. */
  readonly id: string
  /** Called as `first.name(others)`. */
  readonly member?: true
  /** Type parameters (`parameter('T')`) stand for one type all through an overload. */
  readonly parameters: readonly CelType[]
  readonly result: CelType
  call(a: CelValue, b: CelValue, c: CelValue, d: CelValue, meter: Meter): CelValue
  /**
   * When the arguments that are literals are known and others are not (a pattern, say): gives another `call` that was made
   * for them, or undefined. An error makes the expression fail when it runs.
   */
  prepare?(literals: readonly (CelValue | undefined)[]): Overload['call'] | undefined
  cost?(result: CelValue, a: CelValue, b: CelValue, c: CelValue, d: CelValue, meter: Meter): number
  readonly estimate?: Estimator
}

export interface FunctionDeclaration {
  /** With its namespace: `math.greatest`, `ip.isCanonical`. */
  readonly name: string
  readonly overloads: readonly Overload[]
}

export interface Library {
  readonly functions: readonly FunctionDeclaration[]
  readonly macros?: readonly Macro[]
  /** Types that expressions can name: `type(x) == net.IP`. */
  readonly types?: readonly CelType[]
}

/** A library, and the compatibility versions (minor of 1.x) that know it. */
export interface VersionedLibrary {
  readonly library: Library
  readonly introduced: number
  readonly removed?: number
}
