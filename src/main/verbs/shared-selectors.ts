/**
 * Thread: main, or a front end's own. Shares long selectors among the watches that ask for the same ones: they are
 * parsed once and kept for as long as a watch uses them. Short selectors are not shared, because parsing them costs
 * less than finding them again.
 */
import { createHash } from 'node:crypto'
import type { ListOptions } from '../../api/list-options.js'
import { parseSelectors, type Selectors } from '../../api/selectors.js'

const LONG_CHARACTERS = 256

export class SharedSelectors {
  readonly #known = new Map<string, WeakRef<Selectors>>()
  readonly #gone = new FinalizationRegistry<string>((name) => {
    if (this.#known.get(name)?.deref() === undefined) this.#known.delete(name)
  })

  /** Parses the selectors, or gives those that another watch has. Throws what parseSelectors() throws. */
  of(options: ListOptions, selectableFields: readonly string[]): Selectors {
    const { labelSelector, fieldSelector } = options
    if (labelSelector.length + fieldSelector.length < LONG_CHARACTERS) return parseSelectors(options, selectableFields)
    const asked = JSON.stringify([labelSelector, fieldSelector, selectableFields])
    const name = createHash('sha256').update(asked).digest('base64')
    const known = this.#known.get(name)?.deref()
    if (known !== undefined) return known
    const selectors = parseSelectors(options, selectableFields)
    this.#known.set(name, new WeakRef(selectors))
    this.#gone.register(selectors, name)
    return selectors
  }
}
