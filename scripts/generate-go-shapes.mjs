// Reads from Go type declarations only what JSON and protobuf output depend on and no published document says:
// the order of fields, which of them are pointers, and what their tags let be left out.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'

/**
 * @typedef {{ json: string, goType: string, pointer: boolean, omitempty: boolean, omitzero: boolean }} GoField
 * @typedef {{ embeds: string } | GoField} GoMember
 */

const STRUCT = /^type (\w+) struct\s*\{\s*(\}?)$/
const EMBEDDED = /^\s+(\*?[\w.]+)\s+`([^`]*)`/
const FIELD = /^\s+([A-Z]\w*)\s+(\S+)\s+`([^`]*)`/

/** @returns {Map<string, GoMember[]>} members by struct name, in the order of their declaration */
function readPackage(folder) {
  const structs = new Map()
  for (const file of readdirSync(folder)) {
    if (!file.endsWith('.go') || file.endsWith('_test.go') || file.startsWith('zz_generated')) continue
    readFile(readFileSync(path.join(folder, file), 'utf8'), structs)
  }
  return structs
}

function readFile(text, structs) {
  let members
  for (const line of text.split('\n')) {
    const start = STRUCT.exec(line)
    if (start) {
      members = []
      structs.set(start[1], members)
      if (start[2] === '}') members = undefined
    } else if (line === '}') members = undefined
    else if (members) {
      const member = readMember(line)
      if (member) members.push(member)
    }
  }
}

function readMember(line) {
  const field = FIELD.exec(line)
  const embedded = field ? undefined : EMBEDDED.exec(line)
  const [type, tag] = field ? [field[2], field[3]] : embedded ? [embedded[1], embedded[2]] : []
  if (tag === undefined) return undefined
  const json = /json:"([^"]*)"/.exec(tag)?.[1]
  if (json === undefined || json === '-') return undefined
  const [name, ...options] = json.split(',')
  if (name === '' || options.includes('inline')) return { embeds: type.replace(/^\*/, '') }
  return {
    json: name,
    goType: type,
    pointer: type.startsWith('*'),
    omitempty: options.includes('omitempty'),
    omitzero: options.includes('omitzero'),
  }
}

/** The API group that each package declares: definition prefix → group. */
export function readGoGroups(roots) {
  const groups = new Map()
  for (const { prefix, folder } of roots)
    for (const entry of readdirSync(folder, { recursive: true })) {
      if (path.basename(entry) !== 'register.go') continue
      const group = /^const GroupName = "([^"]*)"/m.exec(readFileSync(path.join(folder, entry), 'utf8'))?.[1]
      if (group !== undefined) groups.set(prefix + path.dirname(entry).split(path.sep).join('.'), group)
    }
  return groups
}

/**
 * Shapes of every struct below the given folders: definition name → its fields, embedded structs written out.
 * @param {readonly { prefix: string, folder: string }[]} roots prefix io.k8s.api. and the folder it stands for
 */
export function readGoShapes(roots) {
  const packages = new Map()
  for (const { prefix, folder } of roots) {
    for (const entry of readdirSync(folder, { recursive: true })) {
      const full = path.join(folder, entry)
      if (statSync(full).isDirectory()) packages.set(prefix + entry.split(path.sep).join('.'), readPackage(full))
    }
  }
  const meta = packages.get('io.k8s.apimachinery.pkg.apis.meta.v1')
  const flatten = (members, home) =>
    members.flatMap((member) => {
      if (!('embeds' in member)) return [member]
      const [alias, name] = member.embeds.includes('.') ? member.embeds.split('.') : [undefined, member.embeds]
      const source = alias === undefined ? home : alias === 'metav1' || name === 'TypeMeta' ? meta : undefined
      // An alias other than metav1 names the v1 of the same group (admissionregistration v1beta1 embeds v1's rules).
      const foreign = [...packages.values()].find((p) => p !== home && p.has(name))
      const target = source?.get(name) ?? foreign?.get(name)
      return target === undefined ? [] : flatten(target, source ?? foreign)
    })
  const shapes = new Map()
  for (const [name, structs] of packages)
    for (const [struct, members] of structs) shapes.set(`${name}.${struct}`, flatten(members, structs))
  return shapes
}
