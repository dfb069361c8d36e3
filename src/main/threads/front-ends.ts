/**
 * Thread: main. All front ends of the process, whatever threads they run in, started, told of changes and ended
 * together.
 */
import type { Closable } from '../../lib/lifecycle.js'
import type { ResourceChange } from '../../protocol/resource-change.js'
import type { RenewedCredentials } from '../../protocol/server-credentials.js'
import { freePort } from '../http/port-probe.js'

export interface RunningFrontEnd extends Closable {
  /** Begins to listen, and gives the port that it listens on. */
  listen(port: number, isTaken: boolean): Promise<number>
  change(change: ResourceChange): Promise<void> | void
  renewCredentials(renewed: RenewedCredentials): Promise<void> | void
  stopListening(): Promise<void> | void
  settle(): Promise<void>
  drain(): Promise<void>
  close(): Promise<void>
}

export class FrontEnds implements Closable {
  readonly #all: RunningFrontEnd[] = []

  add(frontEnd: RunningFrontEnd): void {
    this.#all.push(frontEnd)
  }

  /**
   * Listens with every front end on one port, among which the kernel shares the connections. The first one finds out
   * whether the port is free.
   */
  async listen(host: string, wanted: number): Promise<number> {
    let port = wanted === 0 && this.#all.length > 1 ? await freePort(host) : wanted
    for (const [i, frontEnd] of this.#all.entries()) port = await frontEnd.listen(port, i > 0)
    return port
  }

  /** Resolves when requests to every front end see the change. */
  async change(change: ResourceChange): Promise<void> {
    await Promise.all(this.#all.map((frontEnd) => frontEnd.change(change)))
  }

  async renewCredentials(renewed: RenewedCredentials): Promise<void> {
    for (const frontEnd of this.#all) await frontEnd.renewCredentials(renewed)
  }

  /** Resolves when no front end has a request under way but long-running ones. */
  async settle(): Promise<void> {
    await Promise.all(this.#all.map((frontEnd) => frontEnd.settle()))
  }

  /** Takes no new connections; resolves when no request is under way any more. */
  async drain(): Promise<void> {
    for (const frontEnd of this.#all) await frontEnd.stopListening()
    await Promise.all(this.#all.map((frontEnd) => frontEnd.drain()))
  }

  async close(): Promise<void> {
    await Promise.all(this.#all.map((frontEnd) => frontEnd.close()))
  }
}
