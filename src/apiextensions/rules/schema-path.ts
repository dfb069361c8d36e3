/** Thread: any. Paths to a field, `.spec.ports` or `.metadata['a.b']`, followed through a schema. */
import { FieldPath } from '../../api/field-error.js'
import { isSet, type JsonSchema, propertiesOf, property, valuesOf } from '../schema/json-schema.js'

interface FoundField {
  readonly schema: JsonSchema
  readonly names: readonly string[]
  /** As Kubernetes writes it in causes: fields after dots, keys of maps in brackets. */
  readonly path: FieldPath
}

const TOKENS = /'(?:[^'\\]|\\.)*'|[.[\]]|[^.[\]]+/gs

/** Undefined when it leads nowhere. */
export function resolveFieldPath(text: string, root: JsonSchema, allowsBrackets = true): FoundField | undefined {
  const tokens = text.match(TOKENS) ?? []
  const names: string[] = []
  let schema: JsonSchema = root
  let path = FieldPath.of()
  for (let i = 0; i < tokens.length; ) {
    const [mark, word] = [tokens[i], tokens[i + 1]]
    if (word === undefined || (mark !== '.' && !(mark === '[' && allowsBrackets))) return undefined
    const name = mark === '.' ? word : quoted(word)
    if (name === undefined || (mark === '[' && tokens[i + 2] !== ']')) return undefined
    const isMap = propertiesOf(schema).length === 0
    const next = isMap ? valueSchema(schema) : property(schema, name)
    if (next === undefined) return undefined
    names.push(name)
    path = isMap ? path.key(name) : path.child(name)
    schema = next
    i += mark === '.' ? 2 : 3
  }
  return { schema, names, path }
}

/** Of the values of a map; nothing is known of them when any are allowed. */
const valueSchema = (schema: JsonSchema): JsonSchema | undefined =>
  valuesOf(schema) ?? (isSet(schema.additionalProperties) ? {} : undefined)

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['a', '\x07'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['v', '\v'],
  ["'", "'"],
  ['\\', '\\'],
])

function quoted(word: string): string | undefined {
  if (word.length < 2 || !word.startsWith("'") || !word.endsWith("'")) return undefined
  let wrong = false
  const text = word.slice(1, -1).replace(/\\(.)/g, (_, escaped: string) => {
    const plain = ESCAPES.get(escaped)
    wrong ||= plain === undefined
    return plain ?? ''
  })
  return wrong ? undefined : text
}
