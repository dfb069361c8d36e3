/**
 * Thread: main. The threads of the process that can be inspected while they run (protocol/thread-inspection.ts), by
 * name.
 */
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import type { InspectionLine, Visitor } from '../../protocol/thread-inspection.js'

export class InspectedThreads {
  readonly #ports = new Map<string, MessagePort>()

  /** Adds a thread; it is forgotten when it ends. */
  readonly add = ({ thread, port }: InspectionLine): void => {
    this.#ports.set(thread, port)
    port.on('close', () => this.#ports.delete(thread))
    port.unref()
  }

  names(): string[] {
    return [...this.#ports.keys()].sort()
  }

  /**
   * Opens a line to the thread, to be handed to the one who inspects it; undefined when there is no thread of that
   * name.
   */
  visit(thread: string): MessagePort | undefined {
    const door = this.#ports.get(thread)
    if (door === undefined) return undefined
    const { port1, port2 } = new MessageChannel()
    door.postMessage({ port: port2 } satisfies Visitor, [port2])
    return port1
  }
}
