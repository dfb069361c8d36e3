/** Thread: pool. The warnings for a client, each once. They go out as headers, so their length is limited. */

/** The limit of kube-apiserver: beyond so many characters each warning gets its beginning only, while there is room. */
const MAX_CHARACTERS = 4096
const MAX_BEGINNING = 256

export class Warnings {
  readonly #texts = new Set<string>()
  #characters = 0

  add(text: string): void {
    // With more texts than characters, the beginnings of those that are there fill the headers already.
    if (text === '' || this.#texts.size > MAX_CHARACTERS || this.#texts.has(text)) return
    this.#texts.add(text)
    this.#characters += text.length
  }

  shown(): string[] {
    if (this.#characters <= MAX_CHARACTERS) return [...this.#texts]
    const shown: string[] = []
    let characters = 0
    for (const text of this.#texts) {
      if (characters >= MAX_CHARACTERS) break
      const beginning = [...text.slice(0, 2 * MAX_BEGINNING)].slice(0, MAX_BEGINNING).join('')
      characters += beginning.length
      shown.push(beginning)
    }
    return shown
  }
}
