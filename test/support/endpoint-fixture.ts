import { AdmissionChain, type AdmissionPlugin } from '#keelson/admission/chain.js'
import type { CustomResourceDefinition } from '#keelson/api/generated/kinds/apiextensions.v1.js'
import type { KubeObject } from '#keelson/api/object.js'
import { StatusError } from '#keelson/api/status.js'
import type { UserInfo } from '#keelson/api/user-info.js'
import type { ObjectConverter } from '#keelson/apiextensions/conversion/interface.js'
import type { Authorizer } from '#keelson/auth/interface.js'
import { assert } from '#keelson/lib/assert.js'
import type { CancelSignal } from '#keelson/lib/cancellation.js'
import { resolveRequestInfo } from '#keelson/main/request/request-info-resolver.js'
import type { EncodedResponse } from '#keelson/protocol/main-pool.js'
import type { RESTDependencies } from '#keelson/registry/generic/rest-dependencies.js'
import { StorageFactoryRESTOptionsGetter } from '#keelson/registry/generic/rest-options.js'
import { rulesOf } from '#keelson/registry/rules-table.js'
import { RawStorages, undecoratedStorage } from '#keelson/storage/factory/decorator.js'
import { DEFAULT_ETCD_OPTIONS } from '#keelson/storage/factory/factory-options.js'
import { create } from '#keelson/workers/endpoints/create.js'
import { EndpointTable } from '#keelson/workers/endpoints/endpoint-table.js'
import { WorkerRequest } from '#keelson/workers/endpoints/request.js'
import { Scheme } from '#keelson/workers/scheme/scheme.js'
import { FakeClock } from './fake-clock.js'
import { FaultyKV } from './faulty-kv.js'
import { MemoryKV } from './memory-kv.js'

export const SOMEBODY: UserInfo = { name: 'somebody', uid: '', groups: [], extra: {} }

export interface SentRequest {
  /** An object is sent as JSON. */
  readonly body?: object | string | Uint8Array
  readonly contentType?: string
  readonly accept?: string
  readonly userAgent?: string
  readonly signal?: CancelSignal
}

export interface Answered {
  readonly status: number
  readonly contentType: string
  /** The body, read as JSON. */
  readonly object: KubeObject
  readonly warnings: readonly string[]
}

/** The part of a plugin that a test is about: every request is its business. */
export type PartialPlugin = Partial<AdmissionPlugin>

/**
 * A pool thread's endpoints over storage in memory: all built-in resources with their rules, the admission that a test
 * chooses and an authorizer that allows what the test does not forbid.
 */
export class EndpointFixture {
  readonly clock = new FakeClock()
  readonly memory = new MemoryKV(this.clock)
  readonly kv = new FaultyKV(this.memory)
  readonly endpoints: EndpointTable
  readonly scheme: Scheme
  /** The definitions of custom resources, by name. */
  readonly definitions = new Map<string, CustomResourceDefinition>()
  readonly admission: AdmissionChain
  /** What storage has told the other parts of the server to be gone: `configmaps/a`. */
  readonly deleted: string[] = []
  readonly authorizer: Authorizer
  /** Verbs that nobody may use; only what a request needs beside its own verb is asked about here. */
  readonly forbiddenVerbs = new Set<string>()

  /** What stands for the conversion webhooks of all definitions. */
  converter: ObjectConverter | undefined

  constructor(...plugins: PartialPlugin[]) {
    this.admission = new AdmissionChain(plugins.map((plugin, i) => ({ name: `P${i}`, handles: () => true, ...plugin })))
    this.authorizer = {
      authorize: ({ verb }) => ({ decision: this.forbiddenVerbs.has(verb) ? 'no-opinion' : 'allow', reason: '' }),
    }
    const etcdOptions = { ...DEFAULT_ETCD_OPTIONS, etcdServers: ['http://nowhere.invalid:1'] }
    this.scheme = new Scheme({ etcdOptions, runtimeConfig: [] }, undefined, rulesOf, (name) =>
      this.definitions.get(name),
    )
    const leases = { getLease: (ttlSeconds: number) => this.kv.grantLease(ttlSeconds) }
    const undecorated = undecoratedStorage(
      new RawStorages({ openBackend: () => ({ kv: this.kv, leases, close: () => undefined }) }),
    )
    this.endpoints = new EndpointTable({
      scheme: this.scheme,
      restOptions: new StorageFactoryRESTOptionsGetter({
        etcdOptions,
        storageFactory: this.scheme,
        undecorated,
        withCacher: undecorated,
      }),
      // The rest is for hooks and handlers of resources that these tests do not write.
      dependencies: { authorizer: this.authorizer } as unknown as Omit<RESTDependencies, 'endpoints'>,
      converterOf: () => {
        assert(this.converter !== undefined, 'a test that converts has a converter')
        return this.converter
      },
      patienceMs: 20,
      eventTtlSeconds: 3600,
      allowPrivileged: true,
      deleted: async ({ resource }, { metadata }) => void this.deleted.push(`${resource}/${metadata?.name}`),
    })
  }

  /** A request as it reaches an endpoint: authenticated, authorized, its body unread. */
  worker(method: string, url: string, sent: SentRequest = {}): WorkerRequest {
    const [path = '', query = ''] = url.split('?', 2)
    const { body = '', contentType = 'application/json', accept = '', userAgent = 'tester/1', signal } = sent
    const info = resolveRequestInfo(method, path, new URLSearchParams(query))
    const request = {
      info,
      method,
      query,
      user: SOMEBODY,
      accept,
      contentType,
      userAgent,
      body: bytesOf(body),
      auditId: 'audit',
      deadlineMs: this.clock.now() + 60_000,
    }
    return new WorkerRequest(request, this.endpoints.find(info), this, signal)
  }

  /** Stores an object as a POST would; gives what the client gets. */
  async create(url: string, object: object): Promise<KubeObject> {
    return answered(await create(this.worker('POST', url, { body: object }))).object
  }

  /** Writes past the endpoints, as another server would at the same time. */
  interfere(url: string, change: (object: KubeObject) => void): Promise<KubeObject> {
    const { endpoint, request } = this.worker('GET', url)
    const key = endpoint.store.key(request.info.namespace, request.info.name)
    return endpoint.store.storage.guaranteedUpdate(key, (object) => {
      change(object)
      return { object }
    })
  }

  async stored(url: string): Promise<KubeObject> {
    const { endpoint, request } = this.worker('GET', url)
    return endpoint.store.storage.get(endpoint.store.key(request.info.namespace, request.info.name))
  }

  async isStored(url: string): Promise<boolean> {
    const { endpoint, request } = this.worker('GET', url)
    const key = endpoint.store.key(request.info.namespace, request.info.name)
    return (await endpoint.store.storage.get(key, { ignoreNotFound: true })).metadata !== undefined
  }
}

function bytesOf(body: object | string | Uint8Array): Uint8Array {
  if (body instanceof Uint8Array) return body
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
}

export function answered({ status, contentType, body, warnings }: EncodedResponse): Answered {
  return { status, contentType, object: JSON.parse(Buffer.from(body).toString()) as KubeObject, warnings }
}

/** The Status that a request is refused with. */
export async function refusal(answer: Promise<unknown>): Promise<StatusError['status']> {
  try {
    await answer
  } catch (error) {
    if (error instanceof StatusError) return error.status
    throw error
  }
  throw new Error('the request was carried out')
}
