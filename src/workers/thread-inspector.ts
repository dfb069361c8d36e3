/**
 * Thread: any. Lets main look into the thread it runs in: CPU profiles, heap snapshots, what it holds. The inspector is used
 * from inside; no port of it is ever opened.
 */
import { Session } from 'node:inspector'
import { getHeapStatistics } from 'node:v8'
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import { newTooManyRequests } from '../api/status.js'
import type { Clock } from '../lib/clock.js'
import { systemThreadId } from '../lib/thread-wait.js'
import { toErrorRecord } from '../protocol/error-record.js'
import type {
  InspectionAnswer,
  InspectionLine,
  InspectionQuestion,
  ThreadReport,
  Visitor,
} from '../protocol/thread-inspection.js'

export class ThreadInspector {
  readonly #thread: string
  readonly #clock: Clock
  #busy = false

  constructor(thread: string, clock: Clock) {
    this.#thread = thread
    this.#clock = clock
  }

  /** `tell` sends to main, as the thread does with everything else. */
  open(tell: (line: InspectionLine, transfer: MessagePort[]) => void): void {
    const { port1, port2 } = new MessageChannel()
    port1.on('message', ({ port }: Visitor) => port.once('message', (question) => void this.#answer(port, question)))
    port1.unref()
    tell({ type: 'inspection', thread: this.#thread, port: port2 }, [port2])
  }

  async #answer(port: MessagePort, question: InspectionQuestion): Promise<void> {
    const tell = (answer: InspectionAnswer): void => port.postMessage(answer)
    const gone = new Promise<void>((resolve) => port.once('close', resolve))
    const piece = (text: string): void => tell({ type: 'piece', text })
    try {
      if (question.type === 'report') piece(JSON.stringify(this.#report()))
      else await this.#alone((session) => this.#look(session, question, piece, gone))
      tell({ type: 'end' })
    } catch (error) {
      tell({ type: 'failed', error: toErrorRecord(error) })
    }
  }

  /** One look at a time: two would see each other more than the thread. */
  async #alone(look: (session: Session) => Promise<void>): Promise<void> {
    if (this.#busy) throw newTooManyRequests(`somebody is looking into the thread ${this.#thread} already`, 1)
    this.#busy = true
    const session = new Session()
    try {
      session.connect()
      await look(session)
    } finally {
      session.disconnect()
      this.#busy = false
    }
  }

  async #look(
    session: Session,
    question: Exclude<InspectionQuestion, { type: 'report' }>,
    piece: (text: string) => void,
    gone: Promise<void>,
  ): Promise<void> {
    if (question.type === 'heap') {
      session.on('HeapProfiler.addHeapSnapshotChunk', ({ params }) => piece(params.chunk))
      await post(session, 'HeapProfiler.takeHeapSnapshot')
      return
    }
    await post(session, 'Profiler.enable')
    await post(session, 'Profiler.start')
    await Promise.race([new Promise<void>((resolve) => this.#clock.after(question.seconds * 1000, resolve)), gone])
    const { profile } = (await post(session, 'Profiler.stop')) as { profile: object }
    piece(JSON.stringify(profile))
  }

  #report(): ThreadReport {
    const { used_heap_size, total_heap_size, heap_size_limit, external_memory } = getHeapStatistics()
    return {
      thread: this.#thread,
      kernelThread: ownKernelThread(),
      heapUsedBytes: used_heap_size,
      heapTotalBytes: total_heap_size,
      heapLimitBytes: heap_size_limit,
      externalBytes: external_memory,
      utilization: performance.eventLoopUtilization().utilization,
    }
  }
}

/** Undefined where there is no /proc. */
const ownKernelThread = (): number | undefined => systemThreadId() || undefined

function post(session: Session, method: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    session.post(method, (error: Error | null, result: unknown) => (error === null ? resolve(result) : reject(error)))
  })
}
