/** Thread: any. Which form of an answer a client wants: the Accept header against what can be made. */
import { lookupTable } from '../lib/lookup-table.js'
import { newNotAcceptable, type StatusError } from './status.js'

export interface MediaTypeClause {
  /** application/json; lower case */
  readonly type: string
  readonly parameters: Readonly<Record<string, string>>
  readonly quality: number
}

export type Serialization = 'json' | 'yaml' | 'protobuf'

/** What the objects are shown as: themselves, or a Table or their metadata in a version of meta.k8s.io. */
export interface Transformation {
  readonly as: 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList'
  readonly version: 'v1' | 'v1beta1'
}

export interface AcceptedMediaType {
  readonly serialization: Serialization
  readonly pretty: boolean
  readonly transformation: Transformation | undefined
}

/** `unknown`: nothing of what is offered; `unknown-transformation`: the format is, the form of the object is not. */
export type Negotiation = AcceptedMediaType | 'unknown' | 'unknown-transformation'

const TYPES: Readonly<Record<string, Serialization>> = lookupTable({
  'application/json': 'json',
  'application/yaml': 'yaml',
  'application/vnd.kubernetes.protobuf': 'protobuf',
})

export const CONTENT_TYPES: Readonly<Record<Serialization, string>> = {
  json: 'application/json',
  yaml: 'application/yaml',
  protobuf: 'application/vnd.kubernetes.protobuf',
}

export const PLAIN_JSON: AcceptedMediaType = { serialization: 'json', pretty: false, transformation: undefined }

export function parseMediaType(text: string): MediaTypeClause | undefined {
  const [type, ...rest] = text.split(';').map((part) => part.trim())
  if (type === undefined || !/^[^\s/]+\/[^\s/]+$/.test(type)) return undefined
  const parameters: Record<string, string> = {}
  for (const parameter of rest) {
    const at = parameter.indexOf('=')
    if (at > 0) parameters[parameter.slice(0, at).trim().toLowerCase()] = unquote(parameter.slice(at + 1).trim())
  }
  const quality = Number(parameters['q'] ?? '1')
  return { type: type.toLowerCase(), parameters, quality: Number.isFinite(quality) ? quality : 1 }
}

const unquote = (text: string): string =>
  text.startsWith('"') && text.endsWith('"') && text.length > 1 ? text.slice(1, -1) : text

export function parseAccept(header: string): MediaTypeClause[] {
  const clauses = header.split(',').map((part) => parseMediaType(part.trim()))
  // Stable: the client's order decides between clauses of one quality.
  return clauses.filter((c) => c !== undefined).sort((a, b) => b.quality - a.quality)
}

export interface OfferedForms {
  /** Custom objects have no form in protobuf; their metadata has. Default: true. */
  readonly protobuf?: boolean | 'metadata'
  /** A watch has no form in YAML. Default: true. */
  readonly yaml?: boolean
  /** What is never listed has no Table. Default: true. */
  readonly table?: boolean
}

/** The common headers are answered without parsing them. */
export function negotiate(accept: string, offered: OfferedForms = {}): Negotiation {
  const { protobuf = true, table = true, yaml = true } = offered
  if (accept === '' || accept === '*/*' || accept === 'application/json') return PLAIN_JSON
  let transformationSeen = false
  for (const clause of parseAccept(accept)) {
    const serialization = clause.type === '*/*' ? 'json' : TYPES[clause.type]
    if (serialization === undefined || (serialization === 'protobuf' && protobuf === false)) continue
    if (serialization === 'yaml' && !yaml) return 'unknown-transformation'
    const transformation = transformationOf(clause.parameters)
    if (transformation === 'unknown' || (transformation?.as === 'Table' && !table)) {
      transformationSeen = true
      continue
    }
    // A Table has a protobuf form in name only.
    if (transformation?.as === 'Table' && serialization === 'protobuf') continue
    if (transformation === undefined && serialization === 'protobuf' && protobuf === 'metadata') continue
    const { pretty } = clause.parameters
    return { serialization, pretty: pretty === '1' || pretty === 'true', transformation }
  }
  return transformationSeen ? 'unknown-transformation' : 'unknown'
}

const REPRESENTATIONS = Object.values(CONTENT_TYPES).join(', ')
const STREAM_REPRESENTATIONS = ', application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch'

export const ONLY_REPRESENTATIONS = `only the following media types are accepted: ${REPRESENTATIONS}`

/** For objects and lists; throws NotAcceptable. `streams`: the resource can be watched too, which a refusal mentions. */
export function acceptedMediaType(
  accept: string,
  { streams = false, ...forms }: OfferedForms & { readonly streams?: boolean } = {},
): AcceptedMediaType {
  const accepted = negotiate(accept, forms)
  if (accepted === 'unknown' && forms.protobuf !== 'metadata')
    throw notAcceptable(`${REPRESENTATIONS}${streams ? STREAM_REPRESENTATIONS : ''}`)
  if (typeof accepted === 'string') throw newNotAcceptable(ONLY_REPRESENTATIONS, false)
  return accepted
}

/** None of what a path offers is wanted. */
export const notAcceptable = (available: string): StatusError =>
  newNotAcceptable(`406: Not Acceptable\n\nAvailable representations: ${available}`)

/** What the first clause asks for that is among the offers, by type; undefined when none does. No header asks for anything. */
export function firstOffered<T>(accept: string, offers: Readonly<Record<string, T>>): T | undefined {
  if (accept.trim() === '') return Object.values(offers)[0]
  for (const { type } of parseAccept(accept)) {
    const offer = Object.hasOwn(offers, type) ? offers[type] : undefined
    if (offer !== undefined) return offer
  }
  return undefined
}

/** Whether a path that has one form only may answer in it. */
export const acceptsType = (accept: string, type: string): boolean =>
  firstOffered(accept, { '*/*': true, [type]: true, [`${type.split('/', 1)[0]}/*`]: true }) === true

/** An error is shown as itself: clauses that ask for another form of the object do not count, and JSON is always there. */
export function negotiateStatus(accept: string): Serialization {
  return accept === '' || accept === 'application/json' ? 'json' : (negotiatePlain(accept) ?? 'json')
}

/** For what has one form only; undefined when no clause asks for that. */
export function negotiatePlain(accept: string): Serialization | undefined {
  if (accept === '') return 'json'
  for (const { type, parameters } of parseAccept(accept)) {
    if (transformationOf(parameters) !== undefined) continue
    if (TYPES[type] !== undefined) return TYPES[type]
    if (type === '*/*' || type === 'application/*') return 'json'
  }
  return undefined
}

/** Whether a clause names a format that is there, whatever it says of the form. */
export const offersFormat = (accept: string): boolean => firstOffered(accept, { '*/*': 'json', ...TYPES }) !== undefined

function transformationOf({ as, g, v }: Readonly<Record<string, string>>): Transformation | undefined | 'unknown' {
  if (as === undefined && g === undefined && v === undefined) return undefined
  if (g !== 'meta.k8s.io' || (v !== 'v1' && v !== 'v1beta1')) return 'unknown'
  if (as === 'Table' || as === 'PartialObjectMetadata' || as === 'PartialObjectMetadataList') return { as, version: v }
  return 'unknown'
}
