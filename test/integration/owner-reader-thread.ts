/** Thread: pool, in tests. Reads a pod or a list when it is told to, and says which version it found. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { listOptions, namesOf, versionOf } from '../contract/pod.js'
import { openReader } from './owner-reader.js'

export type ReaderCall =
  /** Pins the state of now, for good. */
  | { readonly op: 'pin' }
  | { readonly op: 'get'; readonly key: string; readonly resourceVersion: string }
  | { readonly op: 'list'; readonly key: string; readonly resourceVersion: string }
export type ReaderAnswer = { readonly version: number; readonly names: readonly string[] } | { readonly error: string }

const { port, etcdServers } = workerData as { port: MessagePort; etcdServers: string[] }
const reader = await openReader(port, etcdServers)
const pods = reader.delegator('pods')

parentPort!.on('message', (call: ReaderCall) => {
  void answer(call)
    .catch((error: Error): ReaderAnswer => ({ error: (error as { code?: string }).code ?? error.message }))
    .then((answered) => parentPort!.postMessage(answered))
})
parentPort!.postMessage('ready')

async function answer(call: ReaderCall): Promise<ReaderAnswer> {
  if (call.op === 'pin') {
    const snapshot = reader.client.resource('pods').arena()!.snapshot()
    return { version: snapshot.revision, names: [] }
  }
  if (call.op === 'get') {
    const pod = await pods.get(call.key, { resourceVersion: call.resourceVersion })
    return { version: versionOf(pod), names: namesOf([pod]) }
  }
  const list = await pods.getList(call.key, listOptions({ resourceVersion: call.resourceVersion }))
  return { version: list.resourceVersion, names: namesOf(list.items) }
}
