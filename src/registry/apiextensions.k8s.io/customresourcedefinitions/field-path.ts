/** Thread: any. Paths to a field, `.spec.ports` or `.metadata['a.b']`, followed through a schema. */
import { isSet, type JsonSchema, property, valuesOf } from './json-schema.js'

export interface FoundField {
  readonly schema: JsonSchema
  readonly names: readonly string[]
}

const TOKENS = /'(?:[^'\\]|\\.)*'|[.[\]]|[^.[\]]+/gs

/** Undefined when it leads nowhere. */
export function resolveFieldPath(path: string, root: JsonSchema, allowsBrackets = true): FoundField | undefined {
  const tokens = path.match(TOKENS) ?? []
  const names: string[] = []
  let schema = root
  for (let i = 0; i < tokens.length; ) {
    const [mark, word] = [tokens[i], tokens[i + 1]]
    if (word === undefined || (mark !== '.' && !(mark === '[' && allowsBrackets))) return undefined
    const name = mark === '.' ? word : quoted(word)
    if (name === undefined || (mark === '[' && tokens[i + 2] !== ']')) return undefined
    const next = isSet(schema.properties) ? property(schema, name) : valuesOf(schema)
    if (next === undefined) return undefined
    names.push(name)
    schema = next
    i += mark === '.' ? 2 : 3
  }
  return { schema, names }
}

const quoted = (word: string): string | undefined =>
  word.length >= 2 && word.startsWith("'") && word.endsWith("'")
    ? word.slice(1, -1).replace(/\\(.)/gs, '$1')
    : undefined
