/** Thread: main, or a front end's own. Makes audit events of what happens to requests, as far as the policy wants them. */
import { isIP } from 'node:net'
import type { UserInfo } from '../../api/user-info.js'
import type { Clock } from '../../lib/clock.js'
import type {
  AuditBody,
  AuditEvent,
  AuditItem,
  AuditObjectReference,
  AuditStage,
  AuditUser,
} from '../../protocol/main-audit.js'
import type { ResponseHead } from '../http/response-head.js'
import type { ObservedRequest, RequestObserver, RequestOutcome } from '../request/request-observer.js'
import type { AuditLine } from './audit-line.js'
import type { AuditDecision, AuditPolicy } from './audit-policy.js'

const MAX_USER_AGENT = 1024
const SHORTENED = '...TRUNCATED'

export interface AuditObserverOptions {
  readonly policy: AuditPolicy
  readonly line: Pick<AuditLine, 'send' | 'write'>
  readonly clock: Clock
  /** Whether requests wait until their first event is written; with `strict` they fail when it cannot be. */
  readonly blocking: 'no' | 'yes' | 'strict'
  readonly onEvent: () => void
  readonly onLevel: (level: string) => void
  /** Called when a request fails because its event could not be written. */
  readonly onRejected: () => void
}

/** What is kept of a request that is under way. */
class Pending {
  readonly receivedMs: number
  readonly sourceIPs: readonly string[]
  decision: AuditDecision | undefined
  user: UserInfo | undefined
  requestBody: AuditBody | undefined
  responseHead: ResponseHead | undefined
  readonly responsePieces: Uint8Array[] = []
  annotations: Readonly<Record<string, string>> = {}

  constructor(receivedMs: number, sourceIPs: readonly string[]) {
    this.receivedMs = receivedMs
    this.sourceIPs = sourceIPs
  }
}

export class AuditObserver implements RequestObserver {
  readonly #options: AuditObserverOptions
  readonly #pending = new Map<ObservedRequest, Pending>()

  constructor(options: AuditObserverOptions) {
    this.#options = options
  }

  onArrival(request: ObservedRequest): void {
    this.#pending.set(request, new Pending(this.#options.clock.now(), sourceAddresses(request)))
  }

  onRequest(request: ObservedRequest): Promise<boolean> | undefined {
    const pending = this.#pending.get(request)
    if (pending === undefined) return undefined
    const { policy, blocking, onLevel } = this.#options
    const decision = policy.decide(request.user, request.info)
    onLevel(decision.level)
    if (decision.level === 'None') {
      this.#pending.delete(request)
      return undefined
    }
    pending.decision = decision
    pending.user = request.user
    this.#tap(request, pending, decision)
    if (decision.omitStages.has('RequestReceived')) return undefined
    const item = this.#item(request, pending, decision, 'RequestReceived')
    if (blocking === 'no') {
      this.#options.line.send(item)
      return undefined
    }
    return this.#options.line.write(item).then((written) => {
      if (written || blocking !== 'strict') return true
      this.#options.onRejected()
      return false
    })
  }

  onFinished(request: ObservedRequest, { status }: RequestOutcome): void {
    const pending = this.#pending.get(request)
    if (pending === undefined) return
    this.#pending.delete(request)
    if (pending.decision === undefined) {
      this.#refused(request, pending, status)
      return
    }
    const stage = request.panicked ? 'Panic' : 'ResponseComplete'
    if (pending.decision.omitStages.has(stage)) return
    this.#options.line.send(this.#item(request, pending, pending.decision, stage, responseStatus(status)))
  }

  /**
   * Makes an event of a request that authentication refused: who it was is not known, but that somebody tried is worth
   * a line.
   */
  #refused(request: ObservedRequest, pending: Pending, status: number): void {
    if (status !== 401) return
    const decision = this.#options.policy.decide(undefined, request.info)
    this.#options.onLevel(decision.level)
    if (decision.level === 'None' || decision.omitStages.has('ResponseStarted')) return
    const attempted = /^(bearer|basic) /i.exec(request.head.authorization)?.[1]?.toLowerCase()
    const message =
      attempted === undefined
        ? 'Authentication failed, no credentials provided'
        : `Authentication failed, attempted: ${attempted}`
    const stated = { metadata: {}, status: 'Failure', message, code: 401 }
    this.#options.line.send(this.#item(request, pending, decision, 'ResponseStarted', stated))
  }

  #tap(request: ObservedRequest, pending: Pending, { level, omitStages }: AuditDecision): void {
    const wantsRequest = level === 'Request' || level === 'RequestResponse'
    const { contentType } = request.head
    request.tap({
      ...(wantsRequest
        ? {
            requestBody: (bytes: Uint8Array) => {
              // The body is copied, because the bytes themselves go to the pool.
              if (bytes.byteLength > 0) pending.requestBody = { bytes: new Uint8Array(bytes), contentType, gzip: false }
            },
          }
        : {}),
      annotations: (annotations) => {
        pending.annotations = annotations
      },
      responseHead: (head, streams) => {
        pending.responseHead = head
        if (!streams || !request.longRunning || omitStages.has('ResponseStarted')) return
        const item = this.#item(request, pending, pending.decision!, 'ResponseStarted', responseStatus(head.status))
        this.#options.line.send(item)
      },
      responsePiece: (bytes) => {
        const failed = (pending.responseHead?.status ?? 0) >= 400
        if (failed || level === 'RequestResponse') pending.responsePieces.push(copied(bytes))
      },
    })
  }

  #item(
    request: ObservedRequest,
    pending: Pending,
    decision: AuditDecision,
    stage: AuditStage,
    status?: Readonly<Record<string, unknown>>,
  ): AuditItem {
    this.#options.onEvent()
    const event = this.#event(request, pending, decision, stage, status)
    const complete = stage === 'ResponseComplete' || stage === 'Panic'
    const response = complete ? responseBody(pending) : undefined
    const failed = (pending.responseHead?.status ?? 0) >= 400
    return {
      event,
      ...(pending.requestBody === undefined || !complete ? {} : { requestBody: pending.requestBody }),
      ...(response === undefined || decision.level !== 'RequestResponse' ? {} : { responseBody: response }),
      ...(response === undefined || !failed ? {} : { statusBody: response }),
      omitManagedFields: decision.omitManagedFields,
    }
  }

  #event(
    request: ObservedRequest,
    pending: Pending,
    { level }: AuditDecision,
    stage: AuditStage,
    status: Readonly<Record<string, unknown>> | undefined,
  ): AuditEvent {
    const { head, info, verdict, requestor } = request
    const agent = head.userAgent
    const actual = requestor ?? pending.user
    return {
      kind: 'Event',
      apiVersion: 'audit.k8s.io/v1',
      level,
      auditID: head.auditId,
      stage,
      requestURI: head.query === '' ? head.rawPath : `${head.rawPath}?${head.query}`,
      verb: info.verb,
      user: actual === undefined ? { username: '' } : auditUser(actual),
      ...(requestor === undefined || request.user === undefined ? {} : { impersonatedUser: auditUser(request.user) }),
      sourceIPs: pending.sourceIPs,
      ...(agent === ''
        ? {}
        : { userAgent: agent.length > MAX_USER_AGENT ? `${agent.slice(0, MAX_USER_AGENT)}${SHORTENED}` : agent }),
      ...(info.isResourceRequest ? { objectRef: objectReference(request) } : {}),
      ...(status === undefined ? {} : { responseStatus: status }),
      requestReceivedTimestamp: microTime(pending.receivedMs),
      stageTimestamp: microTime(this.#options.clock.now()),
      ...(verdict === undefined || stage === 'RequestReceived'
        ? {}
        : {
            annotations: {
              'authorization.k8s.io/decision': verdict.decision === 'allow' ? 'allow' : 'forbid',
              'authorization.k8s.io/reason': verdict.reason,
              ...pending.annotations,
            },
          }),
    }
  }
}

const copied = (bytes: Uint8Array | string): Uint8Array =>
  typeof bytes === 'string' ? new TextEncoder().encode(bytes) : new Uint8Array(bytes)

function responseBody({ responseHead, responsePieces }: Pending): AuditBody | undefined {
  if (responseHead === undefined || responsePieces.length === 0) return undefined
  const { contentType, headers = [] } = responseHead
  const bytes = responsePieces.length === 1 ? responsePieces[0]! : new Uint8Array(Buffer.concat(responsePieces))
  return { bytes, contentType, gzip: headers.includes('gzip') }
}

function responseStatus(status: number): Readonly<Record<string, unknown>> {
  return status === 0
    ? { metadata: {}, status: 'Success', message: 'Connection closed early', code: 200 }
    : { metadata: {}, code: status }
}

function auditUser({ name, uid, groups, extra }: UserInfo): AuditUser {
  return {
    username: name,
    ...(uid === '' ? {} : { uid }),
    ...(groups.length === 0 ? {} : { groups }),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  }
}

function objectReference({ info }: ObservedRequest): AuditObjectReference {
  const { resource, namespace, name, apiGroup, apiVersion, subresource } = info
  return {
    resource,
    ...(namespace === '' ? {} : { namespace }),
    ...(name === '' ? {} : { name }),
    ...(apiGroup === '' ? {} : { apiGroup }),
    ...(apiVersion === '' ? {} : { apiVersion }),
    ...(subresource === '' ? {} : { subresource }),
  }
}

/**
 * The addresses that proxies name, then the one that the request came from. Entries of clients that are no address are
 * left out.
 */
function sourceAddresses({ credentials }: ObservedRequest): string[] {
  const addresses = new Set<string>()
  const add = (address: string): void => {
    if (isIP(address) !== 0) addresses.add(address)
  }
  for (const part of credentials.header('x-forwarded-for').split(',')) add(part.trim())
  add(credentials.header('x-real-ip').trim())
  add(credentials.remoteAddress())
  return [...addresses]
}

const microTime = (ms: number): string => new Date(ms).toISOString().replace('Z', '000Z')
