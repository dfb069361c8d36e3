import type { KubeObject } from '#keelson/api/object.js'
import type { KeelsonProcess } from './keelson-process.js'
import { until } from './until.js'

/** What tests of controllers do over HTTP: every call that must succeed throws when it does not. */
export class ApiClient {
  readonly #server: KeelsonProcess
  readonly #headers: Record<string, string>

  constructor(server: KeelsonProcess, headers: Record<string, string> = {}) {
    this.#server = server
    this.#headers = headers
  }

  async create<T extends KubeObject>(path: string, object: object): Promise<T> {
    return this.#send<T>('POST', path, object)
  }

  async update<T extends KubeObject>(path: string, object: object): Promise<T> {
    return this.#send<T>('PUT', path, object)
  }

  async merge<T extends KubeObject>(path: string, object: object): Promise<T> {
    return this.#send<T>('PATCH', path, object, { 'content-type': 'application/merge-patch+json' })
  }

  /** Undefined when there is none. */
  async get<T extends KubeObject>(path: string): Promise<T | undefined> {
    const { status, json } = await this.#server.request('GET', path, undefined, this.#headers)
    return status === 200 ? (json as T) : undefined
  }

  async list<T extends KubeObject>(path: string): Promise<T[]> {
    const { items = [] } = await this.#send<KubeObject & { items?: T[] }>('GET', path)
    return items
  }

  /** Gives the status of the answer. */
  async delete(path: string, options?: object): Promise<number> {
    const body = options && { kind: 'DeleteOptions', apiVersion: 'v1', ...options }
    return (await this.#server.request('DELETE', path, body, this.#headers)).status
  }

  appears(path: string): Promise<void> {
    return until(async () => (await this.get(path)) !== undefined, { what: `${path} to appear` })
  }

  goes(path: string): Promise<void> {
    return until(async () => (await this.get(path)) === undefined, { what: `${path} to go` })
  }

  /** Waits until the object is as it should be, and gives it. */
  async when<T extends KubeObject>(path: string, what: string, isSo: (object: T) => boolean): Promise<T> {
    let found: T | undefined
    await until(
      async () => {
        found = await this.get<T>(path)
        return found !== undefined && isSo(found)
      },
      { what },
    )
    return found!
  }

  async #send<T>(method: string, path: string, body?: object, headers: Record<string, string> = {}): Promise<T> {
    const { status, text, json } = await this.#server.request(method, path, body, { ...this.#headers, ...headers })
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`)
    return json as T
  }
}
