import t from 'tap'
import { ApiFailure } from '#keelson/main/secrets/api-client.js'
import { type RewritePlace, SecretsRewriter } from '#keelson/main/secrets/secrets-rewriter.js'

const SECRETS = { name: 'secrets', path: '/api/v1/secrets', namespaced: true, kind: 'Secret', apiVersion: 'v1' }
const PODS = { name: 'pods', path: '/api/v1/pods', namespaced: true, kind: 'Pod', apiVersion: 'v1' }

/** A server with so many objects of each; continue tokens are indexes. */
function server(objects: number, answer: (path: string) => number = () => 200, expired = '') {
  const written: string[] = []
  const client = {
    get: async <T>(path: string): Promise<T> => {
      const url = new URL(path, 'http://x')
      const token = url.searchParams.get('continue') ?? '0'
      if (token === expired) throw new ApiFailure('gone', 410)
      const [from, limit] = [Number(token), Number(url.searchParams.get('limit'))]
      const items = Array.from({ length: Math.min(limit, objects - from) }, (_, i) => ({
        metadata: { name: `o${from + i}`, namespace: 'a', resourceVersion: '1' },
      }))
      const next = from + items.length
      return {
        metadata: next < objects ? { continue: String(next), remainingItemCount: objects - next } : {},
        items,
      } as T
    },
    send: async (_method: string, path: string) => {
      written.push(path)
      return { status: answer(path), text: '{"message":"why"}' }
    },
  }
  return { client, written }
}

const rewriter = (
  client: ReturnType<typeof server>['client'],
  options: { place?: RewritePlace | undefined; targets?: (typeof SECRETS)[]; onPage?: () => void } = {},
) => {
  const places: RewritePlace[] = []
  const failures: string[] = []
  const one = new SecretsRewriter({
    client,
    targets: options.targets ?? [SECRETS],
    pageSize: 4,
    parallel: 3,
    place: options.place,
    onProgress: () => options.onPage?.(),
    onPlace: (place) => places.push(place),
    onFailure: (object, why) => failures.push(`${object}: ${why}`),
  })
  return { one, places, failures }
}

t.test('every object of every resource is written once', async (t) => {
  const { client, written } = server(10)
  t.ok(await rewriter(client, { targets: [SECRETS, PODS] }).one.run())
  t.equal(new Set(written).size, 20)
  t.equal(written.length, 20)
  t.ok(written.includes('/api/v1/namespaces/a/secrets/o9'))
})

t.test('stopped and taken up again, nothing is left out', async (t) => {
  const { client, written } = server(10)
  const first = rewriter(client, { targets: [SECRETS, PODS], onPage: () => first.one.stop() })
  t.notOk(await first.one.run())
  t.equal(written.length, 4, 'a page is finished')
  const second = rewriter(client, { targets: [SECRETS, PODS], place: first.places.at(-1) })
  t.ok(await second.one.run())
  t.equal(written.length, 20, 'and not written again')
  const third = rewriter(client, { targets: [SECRETS, PODS], place: second.places.at(-1) })
  t.ok(await third.one.run())
  t.equal(written.length, 20)
})

t.test('a place that is too old: from the start', async (t) => {
  const { client, written } = server(10, undefined, '4')
  const place = { done: [], resource: 'secrets', continueToken: '4' }
  const again = server(10)
  const mixed = { ...again.client, get: client.get }
  // Only the first question is about the old place.
  let asked = 0
  const get = <T>(path: string): Promise<T> => (asked++ === 0 ? mixed.get<T>(path) : again.client.get<T>(path))
  t.ok(await rewriter({ ...again.client, get }, { place }).one.run())
  t.equal(again.written.length, 10)
  t.equal(written.length, 0)
})

t.test('gone and changed objects are as good as written; refusals are said', async (t) => {
  const { client } = server(5, (path) =>
    path.endsWith('o1') ? 404 : path.endsWith('o2') ? 409 : path.endsWith('o3') ? 403 : 200,
  )
  const { one, failures } = rewriter(client)
  t.notOk(await one.run())
  t.same(failures, ['/api/v1/namespaces/a/secrets/o3: 403 why'])
})
