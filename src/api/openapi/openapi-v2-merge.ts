/**
 * Thread: any. Documents of OpenAPI version 2 of other servers put into this server's: the paths of the versions that they serve, and
 * the definitions that those paths reach. A definition whose name is taken by another one is renamed `name_v2`, `name_v3`, as
 * kube-aggregator does; a path that is there already stays as it is.
 */
import { isDeepStrictEqual } from 'node:util'
import { isJsonObject, type Json, type JsonObject } from '../object.js'

const REFERENCE = '#/definitions/'
/** Deeper documents are not taken: the walk is recursive, and no server's own document comes near. */
const MAX_DEPTH = 500

export interface SwaggerDocument {
  readonly paths: Record<string, unknown>
  readonly definitions: Record<string, unknown>
}

export interface OtherSwagger {
  /** `/apis/<group>/<version>/`: only paths below one of these are taken. */
  readonly prefixes: readonly string[]
  readonly document: JsonObject
}

export class SwaggerError extends Error {
  readonly code = 'SwaggerError'
}

/** Gives a new document; `own` is not changed. Throws SwaggerError when the other document cannot be used. */
export function mergedSwagger<T extends SwaggerDocument>(own: T, { prefixes, document }: OtherSwagger): T {
  const definitions = new Map(members(document['definitions']))
  const taken = members(document['paths']).filter(
    ([path]) => !Object.hasOwn(own.paths, path) && prefixes.some((prefix) => path.startsWith(prefix)),
  )
  const reached = reachedFrom(
    taken.map(([, item]) => item),
    definitions,
  )
  const names = newNames(own.definitions, reached)
  const renamed = (value: Json): Json => withReferences(value, names, 0)
  return {
    ...own,
    paths: sorted([...Object.entries(own.paths), ...taken.map(([path, item]) => [path, renamed(item)] as const)]),
    definitions: sorted([
      ...Object.entries(own.definitions),
      ...[...reached]
        .map(([name, schema]) => [names.get(name) ?? name, renamed(schema)] as const)
        .filter(([name]) => !Object.hasOwn(own.definitions, name)),
    ]),
  }
}

/** The members of an object; none of anything else. */
const members = (value: Json | undefined): [string, Json][] =>
  isJsonObject(value) ? Object.entries(value).map(([key, member]) => [key, member ?? null]) : []

/** The definitions that values refer to, and those that these refer to. */
function reachedFrom(values: readonly Json[], definitions: ReadonlyMap<string, Json>): Map<string, Json> {
  const reached = new Map<string, Json>()
  const waiting = [...values]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    visitReferences(next, 0, (name) => {
      const schema = definitions.get(name)
      if (schema === undefined || reached.has(name)) return
      reached.set(name, schema)
      waiting.push(schema)
    })
  }
  return reached
}

/** The new names of definitions that another one of the same name stands in the way of; equal ones keep theirs. */
function newNames(own: Readonly<Record<string, unknown>>, reached: ReadonlyMap<string, Json>): Map<string, string> {
  const names = new Map<string, string>()
  const used = new Set(reached.keys())
  for (const [name, schema] of reached) {
    if (!Object.hasOwn(own, name) || isDeepStrictEqual(plain(own[name]), schema)) continue
    let number = 2
    let next = `${name}_v${number}`
    while (used.has(next) || (Object.hasOwn(own, next) && !isDeepStrictEqual(plain(own[next]), schema)))
      next = `${name}_v${++number}`
    used.add(next)
    names.set(name, next)
  }
  return names
}

/** What a reader of the printed document would see: members that are undefined are not printed. */
const plain = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value ?? null, (_key, one: unknown) => (typeof one === 'bigint' ? String(one) : one)))

function visitReferences(value: Json, depth: number, visit: (name: string) => void): void {
  if (depth > MAX_DEPTH) throw new SwaggerError('the document is too deep')
  if (Array.isArray(value)) for (const item of value) visitReferences(item, depth + 1, visit)
  else if (isJsonObject(value))
    for (const [key, member] of members(value)) {
      if (key === '$ref' && typeof member === 'string') {
        if (member.startsWith(REFERENCE)) visit(unescaped(member.slice(REFERENCE.length)))
      } else visitReferences(member, depth + 1, visit)
    }
}

function withReferences(value: Json, names: ReadonlyMap<string, string>, depth: number): Json {
  if (names.size === 0) return value
  if (depth > MAX_DEPTH) throw new SwaggerError('the document is too deep')
  if (Array.isArray(value)) return value.map((item) => withReferences(item, names, depth + 1))
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    members(value).map(([key, member]) => {
      if (key !== '$ref' || typeof member !== 'string' || !member.startsWith(REFERENCE))
        return [key, withReferences(member, names, depth + 1)]
      const name = names.get(unescaped(member.slice(REFERENCE.length)))
      return [key, name === undefined ? member : `${REFERENCE}${escaped(name)}`]
    }),
  )
}

/** Names in references are parts of a JSON pointer. */
const unescaped = (name: string): string => name.replaceAll('~1', '/').replaceAll('~0', '~')
const escaped = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1')

const sorted = (entries: readonly (readonly [string, unknown])[]): Record<string, unknown> =>
  Object.fromEntries([...entries].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
