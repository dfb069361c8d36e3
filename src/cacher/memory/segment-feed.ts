/**
 * Thread: any. Brings segments from the owner to a reader thread. The owner sends a segment before it publishes
 * anything in it, and the reader takes in what was sent, synchronously, before it follows a pointer; so neither side
 * waits for the other. Messages of all arenas go over one port a thread.
 *
 * A thread that reads nothing takes in the messages too, when its event loop comes round: otherwise it would keep
 * segments alive that the owner has freed.
 */
import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads'

export type SegmentMessage =
  | { readonly arena: number; readonly name: string; readonly index: number; readonly buffer: SharedArrayBuffer }
  /**
   * A message without a buffer says that the segment was dropped; one without an index too says that the arena is
   * closed.
   */
  | { readonly arena: number; readonly index?: number }

/** Where a reader takes segments from: a port, or a list in the owner's own thread. */
export interface SegmentSource {
  receive(): SegmentMessage | undefined
  /**
   * Hands over the messages that receive() has not given out, in the same order, soon after they were sent. Does not
   * keep the thread alive.
   */
  listen(take: (message: SegmentMessage) => void): void
}

export class PortSegmentSource implements SegmentSource {
  readonly #port: MessagePort

  constructor(port: MessagePort) {
    this.#port = port
  }

  receive(): SegmentMessage | undefined {
    const received = receiveMessageOnPort(this.#port) as { message: SegmentMessage } | undefined
    return received?.message
  }

  listen(take: (message: SegmentMessage) => void): void {
    this.#port.on('message', take)
    this.#port.unref()
  }
}

/** The source of readers in the owner's own thread. */
export class LocalSegmentSource implements SegmentSource {
  readonly #messages: SegmentMessage[] = []
  #take: ((message: SegmentMessage) => void) | undefined

  send(message: SegmentMessage): void {
    if (this.#take === undefined) this.#messages.push(message)
    else this.#take(message)
  }

  receive(): SegmentMessage | undefined {
    return this.#messages.shift()
  }

  listen(take: (message: SegmentMessage) => void): void {
    for (const message of this.#messages.splice(0)) take(message)
    this.#take = take
  }
}
