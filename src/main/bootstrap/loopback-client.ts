/** Thread: main. Objects as the server itself reads and writes them, through the pool like anybody else. */
import type { KubeObject } from '../../api/object.js'
import type { Status } from '../../api/status.js'
import type { ServerAnswer, ServerRequests } from './server-requests.js'

/** The failure that the server was told when it asked itself. */
export class LoopbackError extends Error {
  override readonly name = 'LoopbackError'
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

export class LoopbackClient {
  readonly #requests: ServerRequests

  constructor(requests: ServerRequests) {
    this.#requests = requests
  }

  /** Undefined when the object does not exist. */
  async get(path: string): Promise<KubeObject | undefined> {
    const answer = await this.#requests.send({ method: 'GET', path })
    return answer.status === 404 ? undefined : objectOf(answer)
  }

  /** Undefined when the object exists already. */
  async create(path: string, object: KubeObject): Promise<KubeObject | undefined> {
    const answer = await this.#requests.send({ method: 'POST', path, object })
    return answer.status === 409 ? undefined : objectOf(answer)
  }

  /** Creates the object unless it exists. It looks first, so that a later start only reads. */
  async ensure(collection: string, object: KubeObject): Promise<void> {
    const found = await this.get(`${collection}/${object.metadata?.name ?? ''}`)
    if (found === undefined) await this.create(collection, object)
  }

  async update(path: string, object: KubeObject): Promise<KubeObject> {
    return objectOf(await this.#requests.send({ method: 'PUT', path, object }))
  }

  async apply(path: string, object: KubeObject, fieldManager: string): Promise<KubeObject> {
    const query = `fieldManager=${encodeURIComponent(fieldManager)}&force=true`
    return objectOf(
      await this.#requests.send({ method: 'PATCH', path, object, query, contentType: 'application/apply-patch+yaml' }),
    )
  }

  async delete(path: string): Promise<void> {
    const answer = await this.#requests.send({ method: 'DELETE', path })
    if (answer.status !== 404) objectOf(answer)
  }
}

function objectOf({ status, text }: ServerAnswer): KubeObject {
  const value = JSON.parse(text) as KubeObject
  if (status < 300) return value
  throw new LoopbackError(status, (value as Partial<Status>).message ?? `status ${status}`)
}
