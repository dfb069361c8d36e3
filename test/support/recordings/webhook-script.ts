/**
 * What the webhook server of recorded suites answers, by the words of its path: `/deny/403/no-more`, `/label/tier/gold`,
 * `/convert`. The suites were recorded with a server that understood the same words.
 */
import type { Json } from './edits.js'

type Tree = Record<string, Json>

export interface HookReview {
  readonly kind?: string
  readonly apiVersion?: string
  readonly request?: Tree
}

/** An answer, or 'close' for a connection that is cut. */
export type HookAnswer = { readonly status: number; readonly contentType: string; readonly body: string } | 'close'

const isTree = (value: unknown): value is Tree => typeof value === 'object' && value !== null && !Array.isArray(value)
const treeAt = (value: unknown, ...path: readonly string[]): Tree => {
  let found: unknown = value
  for (const name of path) found = isTree(found) ? found[name] : undefined
  return isTree(found) ? found : {}
}

export function hookAnswer(words: readonly string[], review: HookReview, replies: Tree): HookAnswer {
  let [word = '', ...rest] = words
  let status = 200
  let contentType = 'application/json'
  let body = ''
  if (word === 'http') {
    status = Number(rest[0])
    body = `webhook answers ${status}`
    ;[word = '', ...rest] = rest.slice(1)
  }
  if (word === 'text') {
    contentType = 'text/plain'
    ;[word = '', ...rest] = rest
  }
  if (word === 'close') return 'close'
  if (word === '') return { status, contentType, body }
  if (word === 'empty') return { status, contentType, body: '' }
  if (word === 'malformed')
    return { status, contentType, body: '{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"al' }
  if (word === 'status') {
    const own = { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: status, reason: 'Conflict' }
    return { status, contentType, body: JSON.stringify({ ...own, message: 'a status of its own' }) }
  }
  const { response, fault } = responseTo(word, rest, review, replies)
  if (fault === 'close') return 'close'
  if (fault === 'http') return { status: 500, contentType, body: 'conversion broke' }
  const text = JSON.stringify(withFault({ apiVersion: review.apiVersion, kind: review.kind, response }, fault, review))
  return { status, contentType, body: fault === 'malformed' ? text.slice(0, -9) : text }
}

function responseTo(
  word: string,
  rest: readonly string[],
  { kind, request = {} }: HookReview,
  replies: Tree,
): { response: Tree; fault: string } {
  const { uid = null } = request
  if (kind === 'ConversionReview') {
    const [first] = (request['objects'] ?? []) as Tree[]
    const fault = rest[0] ?? String(treeAt(first, 'metadata', 'annotations')['fault'] ?? '')
    return { response: { uid, ...conversion(fault, request) }, fault }
  }
  return {
    response: { uid, ...admission(word, rest, request, replies) },
    fault: word === 'review' ? (rest[0] ?? '') : '',
  }
}

const OTHER_UID = '00000000-0000-0000-0000-000000000000'

function withFault(answer: Record<string, unknown>, fault: string, { request }: HookReview): object {
  const { response, kind: _kind, apiVersion, ...rest } = answer
  const versioned = (version: string) => ({ ...answer, apiVersion: String(apiVersion).replace(/v\w+$/, version) })
  switch (fault) {
    case 'wrong-uid':
      return { ...answer, response: { ...treeAt(response), uid: OTHER_UID } }
    case 'no-uid': {
      const { uid: _, ...without } = treeAt(response)
      return { ...answer, response: without }
    }
    case 'no-response':
      return { ...answer, response: undefined }
    case 'v1beta1':
    case 'v9':
      return versioned(fault)
    case 'wrong-kind':
      return { ...answer, kind: 'Nonsense' }
    case 'no-kind':
      return { ...rest, response }
    case 'echo':
      return { ...answer, request }
    default:
      return answer
  }
}

function admission(word: string, rest: readonly string[], request: Tree, replies: Tree): Tree {
  const metadata = treeAt(request['object'], 'metadata')
  const put = (map: string, value: string): Tree => {
    const key = rest[0] ?? ''
    const made = metadata[map] ? [] : [{ op: 'add', path: `/metadata/${map}`, value: {} }]
    return patched([...made, { op: 'add', path: `/metadata/${map}/${key}`, value }])
  }
  switch (word) {
    case 'probe':
      return { allowed: false, status: { code: 418, message: 'the webhook is in effect' } }
    case 'deny': {
      const [code, message, reason] = rest
      if (code === undefined) return { allowed: false }
      const given = { ...(message === undefined ? {} : { message }), ...(reason === undefined ? {} : { reason }) }
      return { allowed: false, status: { code: Number(code), ...given } }
    }
    case 'warn':
      return { allowed: true, warnings: [...rest] }
    case 'deny-warn':
      return { allowed: false, warnings: [...rest], status: { code: 403, message: 'denied with warnings' } }
    case 'audit':
      return { allowed: true, auditAnnotations: { [rest[0]!]: rest[1]! } }
    case 'label':
      return put('labels', rest[1]!)
    case 'annotate':
      return put('annotations', rest[1]!)
    case 'count':
      return put('annotations', String(Number(treeAt(metadata, 'annotations')[rest[0]!] ?? 0) + 1))
    case 'patch':
      return patched(replies[rest[0]!] ?? null)
    case 'reply':
      return treeAt(replies[rest[0]!])
    default:
      return { allowed: true }
  }
}

const patched = (operations: Json): Tree => {
  const text = typeof operations === 'string' ? operations : JSON.stringify(operations)
  return { allowed: true, patchType: 'JSONPatch', patch: Buffer.from(text).toString('base64') }
}

/** spec.size of v1 is spec.length of v2. */
function conversion(fault: string, request: Tree): Tree {
  const to = String(request['desiredAPIVersion'])
  const given = (request['objects'] ?? []) as Tree[]
  let convertedObjects = given.map((object) => faulty(fault, object, converted(object, to), to))
  if (fault === 'few') convertedObjects = convertedObjects.slice(1)
  if (fault === 'many') convertedObjects = [...convertedObjects, ...convertedObjects]
  const failure = fault === 'fail' ? { status: 'Failure', message: 'cannot convert that' } : { status: 'Failure' }
  const result = fault === 'fail' || fault === 'fail-silent' ? failure : { status: 'Success' }
  return {
    ...(fault === 'none' ? {} : { convertedObjects }),
    ...(fault === 'no-result' ? {} : { result: result as Tree }),
  }
}

function converted(object: Tree, to: string): Tree {
  const copy = structuredClone(object)
  const [from, into] = to.endsWith('/v2') ? (['size', 'length'] as const) : (['length', 'size'] as const)
  const spec = copy['spec']
  if (isTree(spec) && from in spec) {
    spec[into] = spec[from] ?? null
    delete spec[from]
  }
  return { ...copy, apiVersion: to }
}

function faulty(fault: string, original: Tree, object: Tree, to: string): Tree {
  const metadata = treeAt(object['metadata'])
  const meta = (more: Tree): Tree => ({ ...object, metadata: { ...metadata, ...more } })
  const without = (...names: readonly string[]): Tree => ({
    ...object,
    metadata: Object.fromEntries(Object.entries(metadata).filter(([name]) => !names.includes(name))),
  })
  switch (fault) {
    case 'name':
      return meta({ name: `${String(metadata['name'])}-other` })
    case 'namespace':
      return meta({ namespace: 'elsewhere' })
    case 'uid':
      return meta({ uid: 'another' })
    case 'kind':
      return { ...object, kind: 'Other' }
    case 'version':
      return { ...object, apiVersion: original['apiVersion'] ?? null }
    case 'labels':
      return meta({
        labels: { ...treeAt(metadata, 'labels'), converted: 'yes' },
        annotations: { ...treeAt(metadata, 'annotations'), 'converted-to': to.split('/')[1]! },
      })
    case 'no-labels':
      return without('labels', 'annotations')
    case 'bad-label':
      return meta({ labels: { 'not a label': 'x' } })
    case 'meta': {
      const { creationTimestamp: _, ...rest } = metadata
      const more = { finalizers: ['example.com/webhook'], generateName: 'other-', ownerReferences: [] }
      return { ...object, metadata: { ...rest, ...more } }
    }
    case 'no-meta': {
      const { metadata: _, ...rest } = object
      return rest
    }
    case 'extra':
      return { ...object, spec: { ...treeAt(object['spec']), unknown: true } }
    default:
      return object
  }
}
