/**
 * Thread: any. The line between main and one pool thread for what is asked most: small requests that read or write, and
 * their answers. They go as frames through two rings of shared memory; the port only wakes who sleeps, and carries what
 * is too large for a ring. Cloning the same as objects took half of what a write cost main (docs/adr/0031).
 *
 * Everything else, and what does not fit, goes as a task of Piscina, which starts the thread, replaces it and ends it.
 */
import type { MessagePort } from 'node:worker_threads'
import type { RequestInfo } from '../api/request-info.js'
import type { UserInfo } from '../api/user-info.js'
import type { Frame } from '../lib/ring/ring-receiver.js'
import type { RingSender } from '../lib/ring/ring-sender.js'
import type { ErrorRecord } from './error-record.js'
import type { EncodedResponse, PoolRequest, SlottedTask } from './main-pool.js'
import type { PoolHandover } from './pool-pulse.js'

/** The bytes of requests and of answers that may wait; what finds no room goes the other way. */
export const LINE_RING_BYTES = 256 * 1024
/**
 * Tasks a turn of the pool's loop. What is prepared in one turn shares a message to the owner and a commit: with one task a
 * turn a write cost 70 % more processor in all threads together (ADR 31). More than these would keep answers waiting.
 */
export const TASKS_PER_TURN = 32
/** Answers a turn of the front end's loop. */
export const ANSWERS_PER_TURN = 32
/** The most users that a line knows by number; then it counts anew. */
const MAX_USERS = 256

/** Sent by a pool thread when it is ready to serve: its line. */
export interface PoolLineOffer {
  readonly type: 'line'
  readonly tasks: SharedArrayBuffer
  readonly answers: SharedArrayBuffer
  readonly port: MessagePort
}

/** Over the port from the thread: null is a waking, the others are answers that did not go through the ring. */
export type PoolLineMessage =
  | null
  | { readonly place: number; readonly result: unknown }
  | { readonly place: number; readonly error: ErrorRecord }

/** Writes tasks to a line. A user crosses once; later tasks of the same user carry a number. */
export class TaskWriter {
  readonly #frame: RingSender
  readonly #users = new Map<UserInfo, number>()

  constructor(frame: RingSender) {
    this.#frame = frame
  }

  /** False when the task cannot go over the line, or not now. */
  write({ place, task }: PoolHandover): boolean {
    if (task.type !== 'write' && task.type !== 'read') return false
    const { info, user, ...request } = task.input
    // Rare ones go the other way: a request that is traced carries more than a frame has places for.
    if (info.proxied !== undefined || request.trace !== undefined) return false
    const frame = this.#frame
    frame
      .begin()
      .number(place)
      .number(task.slot)
      .number(task.type === 'write' ? 1 : 0)
    writeInfo(frame, info)
    const number = this.#writeUser(user)
    frame
      .text(request.method)
      .text(request.query)
      .text(request.accept)
      .text(request.contentType)
      .text(request.userAgent)
      .text(request.auditId)
      .number(request.deadlineMs)
      .bytes(request.body)
    const sent = frame.send()
    // A user is known to the reader once a frame with it has gone, and not before.
    if (sent) this.#users.set(user, number)
    return sent
  }

  /** Gives the number that the user has at the reader when the frame is sent. */
  #writeUser(user: UserInfo): number {
    const known = this.#users.get(user)
    if (known !== undefined) {
      this.#frame.number(known).number(0)
      return known
    }
    if (this.#users.size === MAX_USERS) this.#users.clear()
    const number = this.#users.size
    const { name, uid, groups, extra } = user
    const extras = Object.entries(extra)
    this.#frame.number(number).number(1).text(name).text(uid).texts(groups).number(extras.length)
    for (const [key, values] of extras) this.#frame.text(key).texts(values)
    return number
  }
}

export class TaskReader {
  readonly #users: UserInfo[] = []

  read(frame: Frame): PoolHandover {
    const place = frame.number()
    const slot = frame.number()
    const type = frame.number() === 1 ? 'write' : 'read'
    // `Required` has the compiler ask for every field that a request may have, so that none is forgotten here.
    const input: Required<Omit<PoolRequest, 'trace'>> = {
      info: readInfo(frame),
      user: this.#readUser(frame),
      method: frame.text(),
      query: frame.text(),
      accept: frame.text(),
      contentType: frame.text(),
      userAgent: frame.text(),
      auditId: frame.text(),
      deadlineMs: frame.number(),
      body: frame.bytes(),
    }
    return { place, task: { type, input, slot } satisfies SlottedTask }
  }

  #readUser(frame: Frame): UserInfo {
    const number = frame.number()
    if (frame.number() === 0) return this.#users[number]!
    const [name, uid, groups] = [frame.text(), frame.text(), frame.texts()]
    const extras = Array.from({ length: frame.number() }, () => [frame.text(), frame.texts()] as const)
    const user: Required<UserInfo> = { name, uid, groups, extra: Object.fromEntries(extras) }
    this.#users[number] = user
    return user
  }
}

function writeInfo(frame: RingSender, info: RequestInfo): void {
  frame
    .number(info.isResourceRequest ? 1 : 0)
    .text(info.path)
    .text(info.verb)
    .text(info.apiPrefix)
    .text(info.apiGroup)
    .text(info.apiVersion)
    .text(info.namespace)
    .text(info.resource)
    .text(info.subresource)
    .text(info.name)
    .texts(info.parts)
}

function readInfo(frame: Frame): RequestInfo {
  const info: Required<Omit<RequestInfo, 'proxied'>> = {
    isResourceRequest: frame.number() === 1,
    path: frame.text(),
    verb: frame.text(),
    apiPrefix: frame.text(),
    apiGroup: frame.text(),
    apiVersion: frame.text(),
    namespace: frame.text(),
    resource: frame.text(),
    subresource: frame.text(),
    name: frame.text(),
    parts: frame.texts(),
  }
  return info
}

/** False when the answer is too large for the ring, or there is no room now. */
export function writeAnswer(frame: RingSender, place: number, answer: EncodedResponse): boolean {
  const annotations = answer.auditAnnotations
  const pairs = annotations === undefined ? [] : Object.entries(annotations).flat()
  return frame
    .begin()
    .number(place)
    .number(answer.status)
    .text(answer.contentType)
    .texts(answer.warnings)
    .texts(answer.headers)
    .texts(pairs)
    .bytes(answer.body)
    .send()
}

export function readAnswer(frame: Frame): { readonly place: number; readonly answer: EncodedResponse } {
  const place = frame.number()
  const answer: Required<Omit<EncodedResponse, 'auditAnnotations'>> = {
    status: frame.number(),
    contentType: frame.text(),
    warnings: frame.texts(),
    headers: frame.texts(),
    ...annotationsOf(frame.texts()),
    body: frame.bytes(),
  }
  return { place, answer }
}

function annotationsOf(pairs: readonly string[]): Pick<EncodedResponse, 'auditAnnotations'> {
  if (pairs.length === 0) return {}
  const auditAnnotations: Record<string, string> = Object.create(null)
  for (let i = 0; i < pairs.length; i += 2) auditAnnotations[pairs[i]!] = pairs[i + 1]!
  return { auditAnnotations }
}
