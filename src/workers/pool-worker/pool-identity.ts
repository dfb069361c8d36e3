/** Thread: pool. Whose tokens are, for TokenReview: made when the first is asked for, by the rules that are in force then. */
import { Authentication } from '../../auth/authn/authentication.js'
import type { TokenAuthenticator } from '../../auth/authn/token-authenticator.js'
import { systemClock } from '../../lib/clock.js'
import type { Recorder } from '../../metrics/recorder.js'
import type { AccessChange, ChangedAuthentication } from '../../protocol/access-change.js'
import type { PoolStart } from '../../protocol/pool-start.js'
import type { EndpointTable } from '../endpoints/endpoint-table.js'
import { StoredObjects } from './stored-objects.js'

export class PoolIdentity {
  readonly #start: PoolStart
  readonly #endpoints: EndpointTable
  readonly #recorder: Recorder
  #changed: ChangedAuthentication | undefined
  #opened: Authentication | undefined

  constructor(start: PoolStart, access: AccessChange, endpoints: EndpointTable, recorder: Recorder) {
    this.#start = start
    this.#changed = access.authentication
    this.#endpoints = endpoints
    this.#recorder = recorder
  }

  tokens(): TokenAuthenticator {
    this.#opened ??= new Authentication(
      { ...this.#start.authentication, ...this.#changed },
      {
        objects: new StoredObjects(this.#endpoints),
        clock: systemClock,
        random: Math.random,
        recorder: this.#recorder,
      },
    )
    return this.#opened.tokens
  }

  change(changed: ChangedAuthentication): void {
    this.#changed = changed
    this.#opened?.change(changed)
  }
}
