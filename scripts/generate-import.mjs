// Turns published facts (OpenAPI, protobuf, Go shapes) into the project's own tables in src/api/catalogue/.
// Needed only when the Kubernetes version changes; a build and a run need the tables alone.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { readGoGroups, readGoShapes } from './generate-go-shapes.mjs'

/** Definitions that are one JSON value; the names are ScalarKind of src/api/schema.ts. */
const SCALARS = new Map([
  ['io.k8s.apimachinery.pkg.api.resource.Quantity', 'quantity'],
  ['io.k8s.apimachinery.pkg.apis.meta.v1.Time', 'time'],
  ['io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime', 'micro-time'],
  ['io.k8s.apimachinery.pkg.util.intstr.IntOrString', 'int-or-string'],
  ['io.k8s.apimachinery.pkg.apis.meta.v1.Duration', 'duration'],
])
/** Any JSON, but what OpenAPI calls it differs; the tables keep the name. */
const ANY = new Map([
  ['io.k8s.apimachinery.pkg.runtime.RawExtension', 'any:RawExtension'],
  ['io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1', 'any:FieldsV1'],
  ['io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON', 'any:JSON'],
  ['io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrArray', 'any:JSONSchemaPropsOrArray'],
  ['io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrBool', 'any:JSONSchemaPropsOrBool'],
  [
    'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrStringArray',
    'any:JSONSchemaPropsOrStringArray',
  ],
])
const OPENAPI_TYPES = new Map([
  ['string', 'string'],
  ['boolean', 'boolean'],
  ['integer:int32', 'int32'],
  ['integer:int64', 'int64'],
  ['number:double', 'double'],
  ['string:byte', 'bytes'],
])
const PROTO_TYPES = new Map([
  ['string', 'string'],
  ['bool', 'boolean'],
  ['int32', 'int32'],
  ['int64', 'int64'],
  ['double', 'double'],
  ['bytes', 'bytes'],
])
/** Wire messages that a codec knows by itself. */
const SKIPPED_PACKAGES = /^k8s\.io\.apimachinery\.pkg\.(runtime|util|api|apis\.testapigroup)\b/

const definitionPackage = (protoPackage) =>
  protoPackage
    .replace(/^k8s\.io\./, 'io.k8s.')
    .replace('apiextensions_apiserver', 'apiextensions-apiserver')
    .replace('kube_aggregator', 'kube-aggregator')

const ofV1 = (name) => name.replace(/\.v\d(alpha|beta)\d\./, '.v1.')
const scalarOf = (name) => SCALARS.get(name) ?? ANY.get(name) ?? ANY.get(ofV1(name))

class Importer {
  constructor({ openapi, proto, exceptions, shapes }) {
    this.openapi = openapi
    this.exceptions = exceptions
    this.shapes = shapes
    /** definition name → wire fields */
    this.messages = new Map()
    for (const [name, messages] of Object.entries(proto.messages)) {
      if (SKIPPED_PACKAGES.test(name)) continue
      for (const [message, fields] of Object.entries(messages))
        this.messages.set(`${definitionPackage(name)}.${message}`, fields)
    }
  }

  /** Tables by package: package → definitions' lines. */
  tables() {
    const names = new Set([...Object.keys(this.openapi.definitions), ...this.messages.keys()])
    const packages = new Map()
    for (const name of [...names].sort()) {
      if (scalarOf(name) !== undefined) continue
      const home = name.slice(0, name.lastIndexOf('.'))
      const lines = this.definition(name, home)
      if (lines === undefined) continue
      if (!packages.has(home)) packages.set(home, [])
      packages.get(home).push(lines.join('\n'))
    }
    return packages
  }

  definition(name, home) {
    const published = this.openapi.definitions[name]
    if (published?.t !== undefined) throw new Error(`${name} is a scalar that the importer does not know`)
    const wire = this.wireNumbers(name)
    const shape = this.shape(name)
    if (shape === undefined) return undefined
    const head = [name.slice(home.length + 1)]
    const extras = {
      ...(published === undefined ? { unpublished: true } : {}),
      ...(published?.mt === 'atomic' ? { atomic: true } : {}),
      ...(published?.g === undefined ? {} : { kinds: published.g }),
      ...(published?.u === undefined ? {} : { unions: published.u }),
    }
    if (Object.keys(extras).length > 0) head.push(JSON.stringify(extras))
    return [head.join(' '), ...shape.map((field) => `  ${this.field(field, published, wire, home, name)}`)]
  }

  shape(name) {
    const exact = this.shapes.get(name)
    if (exact !== undefined) return exact
    // An alias in a pre-release version stands for the type of v1.
    const v1 = this.shapes.get(ofV1(name))
    if (v1 === undefined && this.openapi.definitions[name] !== undefined) throw new Error(`no Go shape of ${name}`)
    return v1
  }

  field(field, published, wire, home, owner) {
    const fact = published?.p?.[field.json]
    if (published !== undefined && fact === undefined) throw new Error(`${owner}.${field.json} is not published`)
    const attributes = typeof fact === 'object' ? fact : {}
    const number = wire.get(field.json)
    const type =
      fact === undefined
        ? this.protoType(number, owner, field)
        : this.openapiType(typeof fact === 'string' ? fact : fact.t, home)
    const required = published === undefined ? !field.omitempty : (published.r ?? []).includes(field.json)
    const zeroDefault = 'd' in attributes && ['{}', '""', '0', 'false'].includes(JSON.stringify(attributes.d))
    const flags =
      (field.pointer ? 'p' : '') +
      (field.omitempty ? 'e' : '') +
      (field.omitzero ? 'z' : '') +
      (required ? 'r' : '') +
      (zeroDefault ? 'd' : '') +
      (this.isWrapped(number) ? 'w' : '')
    const extras = {
      ...('d' in attributes && !zeroDefault ? { default: attributes.d } : {}),
      ...(attributes.e === undefined ? {} : { enum: attributes.e }),
      ...(attributes.ie === undefined ? {} : { itemEnum: attributes.ie }),
      ...(attributes.lt === undefined ? {} : { listType: attributes.lt }),
      ...(attributes.lk === undefined ? {} : { listKeys: attributes.lk }),
      ...(attributes.mt === undefined ? {} : { mapType: attributes.mt }),
      ...(attributes.ps === undefined ? {} : { patchStrategy: attributes.ps }),
      ...(attributes.pk === undefined ? {} : { patchMergeKey: attributes.pk }),
    }
    const columns = [field.json, type, number?.path.join('.') ?? '-', flags === '' ? '-' : flags]
    if (Object.keys(extras).length > 0) columns.push(JSON.stringify(extras))
    return columns.join(' ')
  }

  openapiType(text, home) {
    if (text.startsWith('[]') || text.startsWith('{}')) return text.slice(0, 2) + this.openapiType(text.slice(2), home)
    if (text.startsWith('#')) return this.reference(text.slice(1), home)
    const scalar = OPENAPI_TYPES.get(text)
    if (scalar === undefined) throw new Error(`unknown type ${text}`)
    return scalar
  }

  reference(name, home) {
    const scalar = scalarOf(name)
    if (scalar !== undefined) return scalar
    return name.slice(0, name.lastIndexOf('.')) === home ? name.slice(home.length + 1) : name
  }

  protoType(number, owner, field) {
    if (number === undefined) {
      if (field.goType === 'string') return 'string'
      throw new Error(`${owner}.${field.json} has no wire number and is not published`)
    }
    const { fact, home } = number
    const [, , type, label] = fact
    const value = label === 2 ? type.split(',')[1] : type
    const scalar = PROTO_TYPES.get(value)
    const wrapped = scalar === undefined ? this.wrappedList(this.messageName(value, home)) : undefined
    const base =
      scalar ??
      (wrapped === undefined
        ? this.reference(this.messageName(value, home), owner.slice(0, owner.lastIndexOf('.')))
        : `[]${PROTO_TYPES.get(wrapped[2])}`)
    return (label === 1 ? '[]' : label === 2 ? '{}' : '') + base
  }

  /** On the wire a named Go slice is a message with one repeated field; in JSON it is the list itself. */
  wrappedList(name) {
    const fields = this.messages.get(name)
    return fields?.length === 1 && fields[0][0] === 'items' && fields[0][3] === 1 && !this.shapes.has(name)
      ? fields[0]
      : undefined
  }

  isWrapped(number) {
    if (number === undefined) return false
    const [, , type, label] = number.fact
    const value = label === 2 ? type.split(',')[1] : type
    return !PROTO_TYPES.has(value) && this.wrappedList(this.messageName(value, number.home)) !== undefined
  }

  messageName(type, home) {
    return type.includes('.')
      ? definitionPackage(type.slice(0, type.lastIndexOf('.'))) + type.slice(type.lastIndexOf('.'))
      : `${home}.${type}`
  }

  /** JSON name → the numbers that lead to it on the wire (more than one through embedded structs). */
  wireNumbers(name, prefix = [], found = new Map()) {
    const fields = this.messages.get(name)
    if (fields === undefined) return found
    const home = name.slice(0, name.lastIndexOf('.'))
    const known = this.exceptions[name] ?? this.exceptions[ofV1(name)] ?? {}
    const json = new Map((this.shape(name) ?? []).map((f) => [f.json.toLowerCase(), f.json]))
    for (const fact of fields) {
      const [field, number, type] = fact
      const renamed = known.rename?.[field]
      const own = renamed ?? json.get(field.toLowerCase())
      if (own !== undefined && known.inline?.[field] === undefined) {
        found.set(own, { path: [...prefix, number], fact, home })
      } else {
        // Not a field of the JSON form: an embedded struct.
        this.wireNumbers(this.messageName(known.inline?.[field] ?? type, home), [...prefix, number], found)
      }
    }
    return found
  }
}

/** @param {{ facts: string, goRoots: { prefix: string, folder: string }[], into: string }} options */
export function importFacts({ facts, goRoots, into }) {
  const read = (name) => JSON.parse(readFileSync(path.join(facts, name), 'utf8'))
  const openapi = read('openapi_facts.json')
  const importer = new Importer({
    openapi,
    proto: read('proto_facts.json'),
    exceptions: read('proto_json_exceptions.json'),
    shapes: readGoShapes(goRoots),
  })
  const tables = importer.tables()
  if (existsSync(into)) rmSync(into, { recursive: true })
  mkdirSync(into, { recursive: true })
  const groups = readGoGroups(goRoots)
  for (const [name, definitions] of tables) {
    const group = groups.get(name)
    const head = group === undefined ? '' : `@group ${group}/${name.slice(name.lastIndexOf('.') + 1)}\n`
    writeFileSync(
      path.join(into, `${name}.types`),
      `# Kubernetes ${openapi.version}\n${head}${definitions.join('\n')}\n`,
    )
  }
  writeFileSync(path.join(into, 'resources.jsonl'), resourceTable(openapi))
  return tables.size
}

/** One line a resource, so that a change of version reads well as a diff. */
function resourceTable({ version, discovery, paths }) {
  const returning = resourcesThatReturnDeleted(paths)
  const lines = []
  for (const [group, versions] of Object.entries(discovery))
    for (const [v, resources] of Object.entries(versions))
      for (const [name, r] of Object.entries(resources))
        lines.push(
          JSON.stringify({
            group,
            version: v,
            resource: name,
            kind: r.k,
            namespaced: r.ns === 1,
            singular: r.s,
            verbs: r.v,
            ...(r.sn === undefined ? {} : { shortNames: r.sn }),
            ...(r.c === undefined ? {} : { categories: r.c }),
            ...(r.h === undefined ? {} : { storageVersionHash: r.h }),
            ...(returning.has(`${group === '' ? v : `${group}/${v}`} ${name}`) ? { returnsDeleted: true } : {}),
            ...(r.sub === undefined ? {} : { subresources: subresources(group, v, r.sub) }),
          }),
        )
  return `${JSON.stringify({ version })}\n${lines.join('\n')}\n`
}

/** `apps/v1 deployments` of those whose delete answers with the object. */
function resourcesThatReturnDeleted(paths) {
  const found = new Set()
  for (const { gv, res, sub, ops } of Object.values(paths)) {
    const [action, , , , , , responses] = ops.delete ?? []
    if (action === 'delete' && sub === undefined && !responses['200'].endsWith('.Status')) found.add(`${gv} ${res}`)
  }
  return found
}

function subresources(group, version, table) {
  return Object.entries(table).map(([name, { k, v }]) => {
    const [g, ver, kind] = Array.isArray(k) ? k : [group, version, k]
    return { name, group: g, version: ver, kind, verbs: v }
  })
}
