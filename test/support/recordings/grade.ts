/** Compares an answer with the recorded one, at three depths. */
import type { Json } from './edits.js'
import { MOMENT, type RecordedAnswer, WORDS } from './recording.js'
import { withoutMessages } from './words.js'

/**
 * How much of an answer is right: the HTTP status; also the kind, the reason and the field and type of every cause; also
 * everything else that a client can see. `miss` says what the first difference is.
 */
export interface Grade {
  readonly status: boolean
  readonly reason: boolean
  readonly body: boolean
  readonly miss?: string
}

export interface Score {
  answers: number
  status: number
  reason: number
  body: number
}

export const noScore = (): Score => ({ answers: 0, status: 0, reason: 0, body: 0 })

export function count(score: Score, { status, reason, body }: Grade): void {
  score.answers++
  if (status) score.status++
  if (reason) score.reason++
  if (body) score.body++
}

interface StatusLike {
  readonly kind?: string
  readonly reason?: string
  readonly details?: { readonly causes?: readonly { readonly field?: string; readonly reason?: string }[] }
}

export function gradeAnswer(want: RecordedAnswer, got: RecordedAnswer | undefined): Grade {
  if (want.status !== got?.status)
    return {
      status: false,
      reason: false,
      body: false,
      miss: `status: want ${want.status}, got ${got?.status ?? 'none'}`,
    }
  const reason = reasonMiss(want.body as StatusLike | undefined, got.body as StatusLike | undefined)
  if (reason !== undefined) return { status: true, reason: false, body: false, miss: reason }
  const miss = firstDifference(comparable(want), comparable(got), '')
  return { status: true, reason: true, body: miss === undefined, ...(miss === undefined ? {} : { miss }) }
}

/** The field and the type of every cause, in no order. */
export const causesOf = (status: StatusLike | undefined): string =>
  (status?.details?.causes ?? [])
    .map(({ field = '', reason = '' }) => `${field}|${reason}`)
    .sort()
    .join('; ')

function reasonMiss(want: StatusLike | undefined, got: StatusLike | undefined): string | undefined {
  if (want?.kind !== got?.kind) return `kind: want ${want?.kind}, got ${got?.kind}`
  if (want?.kind !== 'Status') return undefined
  if (want.reason !== got?.reason) return `reason: want ${want.reason}, got ${got?.reason}`
  const [wanted, given] = [causesOf(want), causesOf(got)]
  return wanted === given ? undefined : `causes: want [${wanted}], got [${given}]`
}

/** What is compared: all that recordings keep, less what is about the server's own place. */
function comparable({ body, events, contentType, warnings, headers, messageHas, warningTails }: RecordedAnswer): Json {
  return {
    body: body === undefined ? null : impersonal(body),
    events: (events ?? []).map(impersonal),
    contentType,
    warnings,
    headers: { ...headers },
    messageHas: [...(messageHas ?? [])],
    warningTails: [...(warningTails ?? [])],
  }
}

type Fields = { [field: string]: Json }

/** Without what differs between servers that do the same: their address and port, and who aggregated a role. */
function impersonal(value: Json): Json {
  const plain = withoutMessages(value)
  if (plain === null || typeof plain !== 'object' || Array.isArray(plain)) return plain
  const object = plain['object']
  if (typeof plain['type'] === 'string' && object !== undefined) return { ...plain, object: impersonal(object) }
  for (const address of (plain['serverAddressByClientCIDRs'] ?? []) as Fields[]) address['serverAddress'] = '<address>'
  const metadata = (plain['metadata'] ?? {}) as Fields
  if (plain['kind'] === 'Service' && metadata['name'] === 'kubernetes')
    for (const port of ((plain['spec'] as Fields)['ports'] ?? []) as Fields[]) port['targetPort'] = '<port>'
  if (plain['kind'] === 'ClusterRole' && Array.isArray(metadata['managedFields']))
    metadata['managedFields'] = metadata['managedFields'].filter(
      (entry) => (entry as Fields)['manager'] !== 'clusterrole-aggregation-controller',
    )
  const causes = ((plain['details'] as Fields | undefined)?.['causes'] ?? []) as Json[]
  if (plain['kind'] === 'Status') causes.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
  return plain
}

/** Where two values differ first, in words; words of a server's own and what is of its moment match anything. */
export function firstDifference(want: Json | undefined, got: Json | undefined, at: string): string | undefined {
  if (want === got || want === WORDS || want === MOMENT) return undefined
  const both = typeof want === 'object' && typeof got === 'object' && want !== null && got !== null
  if (both && Array.isArray(want) === Array.isArray(got)) {
    for (const name of [...new Set([...Object.keys(want), ...Object.keys(got)])].sort()) {
      const difference = firstDifference((want as Fields)[name], (got as Fields)[name], `${at}.${name}`)
      if (difference !== undefined) return difference
    }
    return undefined
  }
  return `${at}: want ${shown(want)}, got ${shown(got)}`
}

function shown(value: Json | undefined): string {
  const text = JSON.stringify(value) ?? 'absent'
  return text.length > 160 ? `${text.slice(0, 160)}…` : text
}
