/**
 * Thread: any. Names of properties as expressions write them. What is no identifier of the language is escaped:
 * `__` as `__underscores__`, `.` `-` `/` as `__dot__` `__dash__` `__slash__`, and words of the language as `__namespace__`.
 */

/** Words that no variable may be called. */
export const RESERVED: ReadonlySet<string> = new Set([
  ...['true', 'false', 'null', 'in', 'as', 'break', 'const', 'continue', 'else', 'for', 'function', 'if', 'import'],
  ...['let', 'loop', 'package', 'namespace', 'return', 'var', 'void', 'while'],
])

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['__', '__underscores__'],
  ['.', '__dot__'],
  ['-', '__dash__'],
  ['/', '__slash__'],
])

/** As expressions write a property; undefined when they cannot. */
export function escapeName(property: string): string | undefined {
  if (RESERVED.has(property)) return `__${property}__`
  if (!/^[A-Za-z_./-][A-Za-z0-9_./-]*$/.test(property)) return undefined
  return property.replace(/__|[-./]/g, (one) => ESCAPES.get(one)!)
}

/** The field of an object that an expression calls so: words of the language may be written as they are, too. */
export const fieldNamed = <T>(fields: ReadonlyMap<string, T>, name: string): T | undefined =>
  fields.get(name) ?? (RESERVED.has(name) ? fields.get(`__${name}__`) : undefined)
