/** Thread: any but main. A thread's recorder, with its line to main. */
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import type { MetricsLine } from '../protocol/metrics-line.js'
import { Recorder } from './recorder.js'

/** `tell` sends to main, as the thread does with everything else. */
export function threadRecorder(tell: (line: MetricsLine, transfer: MessagePort[]) => void): Recorder {
  const { port1, port2 } = new MessageChannel()
  tell({ type: 'metrics', port: port2 }, [port2])
  port1.unref()
  return new Recorder((page) => port1.postMessage(page))
}
