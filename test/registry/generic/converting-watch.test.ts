import t from 'tap'
import { parseLabelSelector } from '#keelson/api/label-parser.js'
import { type KubeObject, metadataOf } from '#keelson/api/object.js'
import { everything, MapAttributes } from '#keelson/api/selector.js'
import { ConvertingWatch } from '#keelson/registry/generic/converting-watch.js'
import type { WatchEvent } from '#keelson/storage/contract/interface.js'
import { WatchQueue } from '#keelson/storage/contract/watch-queue.js'

const object = (name: string, size: string): KubeObject => ({
  apiVersion: 'g/v2',
  metadata: { name, labels: { size } },
})
const event = (type: 'ADDED' | 'MODIFIED' | 'DELETED', name: string, size = '1'): WatchEvent<KubeObject> => ({
  type,
  object: object(name, size),
  resourceVersion: 1,
})
const shown = (seen: WatchEvent<KubeObject> | undefined): string =>
  seen !== undefined && 'object' in seen
    ? `${seen.type} ${seen.object.metadata?.name} ${seen.object.apiVersion}`
    : (seen?.type ?? 'end')
const predicate = {
  label: parseLabelSelector('size=1'),
  field: everything,
  getAttributes: (o: KubeObject) => ({
    labels: new MapAttributes(metadataOf(o).labels),
    fields: new MapAttributes({}),
  }),
  limit: 0,
  continueToken: '',
  allowWatchBookmarks: false,
}

t.test('events that are there together are converted together, in order', async (t) => {
  const queue = new WatchQueue<KubeObject>(() => undefined)
  const batches: number[] = []
  const watch = new ConvertingWatch(queue, async (objects) => {
    batches.push(objects.length)
    return objects.map((one) => ({ ...one, apiVersion: 'g/v1' }))
  })
  queue.push(event('ADDED', 'a'))
  queue.push(event('MODIFIED', 'b'))
  queue.push({ type: 'BOOKMARK', resourceVersion: 2, initialEventsEnd: false })
  queue.push(event('DELETED', 'c'))
  const seen: string[] = []
  for (let i = 0; i < 4; i++) seen.push(shown((await watch.next()).value))
  t.same(seen, ['ADDED a g/v1', 'MODIFIED b g/v1', 'BOOKMARK', 'DELETED c g/v1'])
  t.same(batches, [3])
  queue.push(event('ADDED', 'd'))
  t.equal(shown((await watch.next()).value), 'ADDED d g/v1')
  watch.stop()
  t.equal((await watch.next()).done, true)
})

t.test('a selection remembers what it has shown', async (t) => {
  const queue = new WatchQueue<KubeObject>(() => undefined)
  const selection = { predicate, selected: new Set(['/known']) }
  const watch = new ConvertingWatch(queue, async (objects) => [...objects], selection)
  queue.push(event('MODIFIED', 'known', '1'))
  queue.push(event('MODIFIED', 'other', '2'))
  queue.push(event('MODIFIED', 'other', '1'))
  queue.push(event('MODIFIED', 'known', '2'))
  queue.push(event('DELETED', 'known', '2'))
  queue.push(event('DELETED', 'other', '1'))
  queue.finish()
  const seen: string[] = []
  for await (const one of watch) seen.push(shown(one))
  t.same(seen, ['MODIFIED known g/v2', 'ADDED other g/v2', 'DELETED known g/v2', 'DELETED other g/v2'])
  t.equal(selection.selected.size, 0)
})

t.test('a conversion that fails is the last event', async (t) => {
  let stopped = false
  const queue = new WatchQueue<KubeObject>(() => {
    stopped = true
  })
  const watch = new ConvertingWatch(queue, () => Promise.reject(new Error('no webhook')))
  queue.push(event('ADDED', 'a'))
  const { value } = await watch.next()
  t.match(value, { type: 'ERROR', error: { message: 'no webhook' } })
  t.equal((await watch.next()).done, true)
  t.ok(stopped, 'nobody follows the storage any more')
})
