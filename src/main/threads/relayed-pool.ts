/** Thread: a front end's own. The pool of the process, asked over the line to main. */
import { MessagePort, type Transferable } from 'node:worker_threads'
import type { MainCalls } from '../../protocol/main-front-end.js'
import type { PoolResult, PoolTask, PoolTaskName, PoolTasks } from '../../protocol/main-pool.js'
import type { Caller } from './caller.js'
import type { PoolRunner } from './pool.js'
import { transferable } from './pool-member.js'
import type { Calls, PortCalls } from './port-calls.js'

export class RelayedPool implements PoolRunner {
  readonly #calls: PortCalls<MainCalls, Calls>

  constructor(calls: PortCalls<MainCalls, Calls>) {
    this.#calls = calls
  }

  run<K extends PoolTaskName>(type: K, input: Parameters<PoolTasks[K]>[0], caller?: Caller): Promise<PoolResult<K>> {
    const task = { type, input } as PoolTask
    return this.#calls.call('pool', task, { transfer: transferable(task), caller }) as Promise<PoolResult<K>>
  }
}

/** The parts of a result that are moved when it is passed on: ports, and bytes that have their memory to themselves. */
export function transferableResult(result: unknown): Transferable[] {
  const { port } = (result ?? {}) as { port?: unknown }
  if (port instanceof MessagePort) return [port]
  const { body, shown } = (result ?? {}) as { readonly body?: unknown; readonly shown?: readonly unknown[] }
  const views = shown ?? [body]
  const buffers = new Set<ArrayBuffer>()
  for (const view of views as unknown[]) {
    if (view instanceof Uint8Array && view.buffer instanceof ArrayBuffer && view.byteLength === view.buffer.byteLength)
      buffers.add(view.buffer)
  }
  return [...buffers].filter((buffer) => buffer.byteLength > 0)
}
