/**
 * Thread: any. Sets of fields, held in the form in which managedFields shows them (FieldsV1): an entry an element of the path,
 * `{}` for a field that is in the set, nested entries for what is below it, "." among them when the field itself is in the
 * set too. No other form is made of them: what is stored is what is computed with, and unchanged parts are shared.
 *
 * Elements: `f:name` a field or key, `k:{"name":"a"}` an item of a list by its keys, `v:"x"` an item of a set, `i:0` an index.
 * Equal elements are equal text (path-element.ts makes them so), and entries stand in Kubernetes' order, always: whatever makes
 * a set keeps it.
 */
import { compareElements } from './path-element.js'

/** Never changed once made. */
export interface FieldSet {
  readonly [element: string]: FieldSet
}

interface Draft {
  [element: string]: FieldSet
}

export const SELF = '.'

/** A field that is in the set, with nothing below it; also the empty set, at the root. */
export const LEAF: FieldSet = Object.freeze({})

/** The set of these paths, each a list of elements. */
export function fieldSet(...paths: readonly (readonly string[])[]): FieldSet {
  return paths.map(pathSet).reduce(union, LEAF)
}

/** The set of fields named by dotted paths: `metadata.labels`. */
export function namedFields(...paths: readonly string[]): FieldSet {
  return fieldSet(...paths.map((path) => path.split('.').map((name) => `f:${name}`)))
}

function pathSet(path: readonly string[]): FieldSet {
  return path.reduceRight<FieldSet>((below, element) => ({ [element]: below }), LEAF)
}

/** The same entries in order; what is below them is so already. */
export function ordered(entries: FieldSet): FieldSet {
  let previous: string | undefined
  for (const element in entries) {
    if (previous !== undefined && compareElements(previous, element) > 0) return reordered(entries)
    previous = element
  }
  return entries
}

function reordered(entries: FieldSet): FieldSet {
  const out: Draft = {}
  for (const element of Object.keys(entries).sort(compareElements)) out[element] = entries[element]!
  return out
}

export function isEmpty(set: FieldSet): boolean {
  for (const _ in set) return false
  return true
}

/** Of an entry: whether the field itself is in the set. */
export function isMember(entry: FieldSet): boolean {
  return entry[SELF] !== undefined || isEmpty(entry)
}

/** Of an entry: whether fields below it are in the set. */
export function hasChildren(entry: FieldSet): boolean {
  for (const element in entry) if (element !== SELF) return true
  return false
}

/** An entry of its parts; undefined when nothing of it is in the set. */
export function entryOf(member: boolean, children: FieldSet | undefined): FieldSet | undefined {
  if (children === undefined || !hasChildren(children)) return member ? LEAF : undefined
  if (member === (children[SELF] !== undefined)) return children
  if (member) return { [SELF]: LEAF, ...children }
  const { [SELF]: _, ...rest } = children
  return rest
}

export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (isEmpty(b)) return a
  if (isEmpty(a)) return b
  return unionOf(a, b, false) ?? LEAF
}

function unionOf(a: FieldSet, b: FieldSet, member: boolean): FieldSet | undefined {
  const out: Draft = member ? { [SELF]: LEAF } : {}
  for (const element in a) {
    if (element === SELF) continue
    const left = a[element]!
    const right = b[element]
    if (right === undefined || right === left) out[element] = left
    else out[element] = unionOf(left, right, isMember(left) || isMember(right))!
  }
  let more = false
  for (const element in b) {
    if (element === SELF || a[element] !== undefined) continue
    out[element] = b[element]!
    more = true
  }
  return settled(more ? ordered(out) : out, member)
}

/** The fields of a that are not in b. What is below a field of b stays. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  if (isEmpty(a) || isEmpty(b)) return a
  return differenceOf(a, b, false, false) ?? LEAF
}

/** The fields of a that neither are in b nor stand below one that is. */
export function recursiveDifference(a: FieldSet, b: FieldSet): FieldSet {
  if (isEmpty(a) || isEmpty(b)) return a
  return differenceOf(a, b, false, true) ?? LEAF
}

function differenceOf(a: FieldSet, b: FieldSet, member: boolean, recursive: boolean): FieldSet | undefined {
  const out: Draft = member ? { [SELF]: LEAF } : {}
  for (const element in a) {
    if (element === SELF) continue
    const left = a[element]!
    const right = b[element]
    if (right === undefined) {
      out[element] = left
      continue
    }
    const gone = isMember(right)
    if (gone && recursive) continue
    const rest = differenceOf(left, right, isMember(left) && !gone, recursive)
    if (rest !== undefined) out[element] = rest
  }
  return settled(out, member)
}

export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  return intersectionOf(a, b, false) ?? LEAF
}

function intersectionOf(a: FieldSet, b: FieldSet, member: boolean): FieldSet | undefined {
  const out: Draft = member ? { [SELF]: LEAF } : {}
  for (const element in a) {
    if (element === SELF) continue
    const left = a[element]!
    const right = b[element]
    if (right === undefined) continue
    const both = intersectionOf(left, right, isMember(left) && isMember(right))
    if (both !== undefined) out[element] = both
  }
  return settled(out, member)
}

function settled(out: FieldSet, member: boolean): FieldSet | undefined {
  if (hasChildren(out)) return out
  return member ? LEAF : undefined
}

export function setsEqual(a: FieldSet, b: FieldSet): boolean {
  if (a === b) return true
  let count = 0
  for (const element in a) {
    const other = b[element]
    if (other === undefined || !setsEqual(a[element]!, other)) return false
    count++
  }
  for (const _ in b) count--
  return count === 0
}

export function has(set: FieldSet, path: readonly string[]): boolean {
  let entry: FieldSet | undefined = set
  for (const element of path) entry = entry?.[element]
  return entry !== undefined && path.length > 0 && isMember(entry)
}

/** Every path of the set; at each level the fields themselves first, then what is below. */
export function pathsOf(set: FieldSet, prefix: readonly string[] = []): string[][] {
  const paths: string[][] = []
  for (const element in set) if (element !== SELF && isMember(set[element]!)) paths.push([...prefix, element])
  for (const element in set) {
    const entry = set[element]!
    if (element !== SELF && hasChildren(entry)) paths.push(...pathsOf(entry, [...prefix, element]))
  }
  return paths
}
