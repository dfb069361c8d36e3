/** The bugs that the fake server can have: each does its harm now and then, where it has the occasion to. */
export const BUGS = [
  'stale read',
  'lost write',
  'double swap',
  'false conflict',
  'deleted comes back',
  'watch gap',
  'watch duplicate',
  'watch reordered',
  'watch type',
  'early bookmark',
  'resumed too late',
  'initial event missing',
  'reordered page',
  'page of another revision',
  'stale list',
  'list with a gap',
  'old list',
  'servers disagree',
  'address twice',
  'over quota',
] as const
export type Bug = (typeof BUGS)[number]

/** Every so many occasions: seldom enough that most answers are right. */
const EVERY = 5

/** A fast machine is through with its requests after a few seconds, in which few watches begin, and fewer still with a state: each time. */
const FEW: readonly Bug[] = ['initial event missing', 'resumed too late']

export class Planted {
  readonly #bug: Bug | undefined
  #occasions = 0

  constructor(bug?: Bug) {
    this.#bug = bug
  }

  strikes(bug: Bug): boolean {
    return this.#bug === bug && ++this.#occasions % (FEW.includes(bug) ? 1 : EVERY) === 0
  }
}
