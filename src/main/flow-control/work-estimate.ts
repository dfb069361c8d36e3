/**
 * Thread: any. How many seats a request takes, and for how long after its end. A list costs what it reads, in bytes; a
 * write costs the events that its watchers get; a watch costs its beginning.
 */
import { parseBoolean } from '../../api/list-options.js'
import type { RequestInfo } from '../../api/request-info.js'
import { isMutating } from '../request/inflight.js'

export interface WorkEstimate {
  readonly initialSeats: number
  /** Seats that are held for `additionalMs` after the answer: the work that the request caused goes on. */
  readonly finalSeats: number
  readonly additionalMs: number
}

/** What memory holds for a list: of the whole resource, or of one namespace. */
export interface ListSize {
  readonly objects: number
  readonly averageBytes: number
}

export interface WorkSources {
  /** The size of a list; undefined for a resource that is not in memory. */
  listSize(info: RequestInfo): ListSize | undefined
  /** How many watchers would get an event of this request's object. */
  watchers(info: RequestInfo): number
}

const BYTES_PER_SEAT = 100_000
const MAX_LIST_SEATS = 100
const MAX_MUTATING_SEATS = 10
const WATCHES_PER_SEAT = 10
const EVENT_MS = 5
/** The seats of a list that storage must answer: it costs more than one from memory, and its size is not known here. */
const UNKNOWN_LIST_SEATS = 10

export const ONE_SEAT: WorkEstimate = { initialSeats: 1, finalSeats: 0, additionalMs: 0 }

/** A token of a service account makes no event, however many watch service accounts. */
const makesNoEvent = ({ resource, subresource }: RequestInfo): boolean =>
  resource === 'serviceaccounts' && subresource === 'token'

/** `maxSeats`: the most that the level gives, so that a few wide requests do not stop it. */
export function estimateWork(
  info: RequestInfo,
  query: URLSearchParams,
  sources: WorkSources,
  maxSeats: number,
): WorkEstimate {
  if (!info.isResourceRequest || info.verb === 'get') return ONE_SEAT
  if (info.verb === 'list') return listWork(info, query, sources, maxSeats)
  if (info.verb === 'watch') {
    const version = query.get('resourceVersion') ?? ''
    const initial = parseBoolean(query.get('sendInitialEvents')) || version === '' || version === '0'
    return initial ? listWork(info, query, sources, maxSeats) : ONE_SEAT
  }
  return isMutating(info.verb) ? mutatingWork(info, sources, maxSeats) : ONE_SEAT
}

function listWork(info: RequestInfo, query: URLSearchParams, sources: WorkSources, maxSeats: number): WorkEstimate {
  // A list of one name is a get.
  if (info.name !== '') return ONE_SEAT
  const most = Math.max(1, Math.min(maxSeats, MAX_LIST_SEATS))
  const size = sources.listSize(info)
  if (size === undefined) return seats(Math.min(UNKNOWN_LIST_SEATS, most))
  // The initial state of a watch, and a list of whatever is at hand, do not come in pages.
  const isWhole = info.verb === 'watch' || query.get('resourceVersion') === '0'
  const limit = isWhole ? 0 : Number(query.get('limit') ?? 0)
  const objects = limit > 0 ? Math.min(limit, size.objects) : size.objects
  return seats(Math.min(most, Math.max(1, Math.ceil((objects * size.averageBytes) / BYTES_PER_SEAT))))
}

function seats(initialSeats: number): WorkEstimate {
  return initialSeats === 1 ? ONE_SEAT : { initialSeats, finalSeats: 0, additionalMs: 0 }
}

function mutatingWork(info: RequestInfo, sources: WorkSources, maxSeats: number): WorkEstimate {
  if (makesNoEvent(info)) return ONE_SEAT
  const watchers = sources.watchers(info)
  if (watchers < WATCHES_PER_SEAT) return ONE_SEAT
  const wanted = Math.ceil(watchers / WATCHES_PER_SEAT)
  const finalSeats = Math.max(1, Math.min(wanted, maxSeats, MAX_MUTATING_SEATS))
  return { initialSeats: 1, finalSeats, additionalMs: (wanted * EVENT_MS) / finalSeats }
}
