import t from 'tap'
import { EtcdServer, skipWithoutEtcd } from '../support/etcd-server.js'
import { KeelsonProcess } from '../support/keelson-process.js'
import { until } from '../support/until.js'
import { WatchClient } from '../support/watch-client.js'

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

const definition = (
  plural: string,
  more: object = {},
  versions: readonly object[] = [{ name: 'v1', storage: true }],
) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.example.com` },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural, kind: `K${plural}` },
    versions: versions.map((version) => ({
      served: true,
      storage: false,
      schema: {
        openAPIV3Schema: {
          type: 'object',
          properties: { spec: { type: 'object', properties: { n: { type: 'integer' }, ...more } } },
        },
      },
      ...version,
    })),
  },
})
const object = (plural: string, name: string, n: number) => ({
  apiVersion: 'example.com/v1',
  kind: `K${plural}`,
  metadata: { name },
  spec: { n },
})
const collection = (plural: string, version = 'v1'): string =>
  `/apis/example.com/${version}/namespaces/default/${plural}`

t.test('two servers on one etcd', { skip: skipWithoutEtcd }, async (t) => {
  const etcd = await EtcdServer.start()
  t.teardown(() => etcd.stop())
  const flags = ['--etcd-servers', etcd.endpoint]
  const [one, two] = await Promise.all([KeelsonProcess.start(flags), KeelsonProcess.start(flags)])
  t.teardown(() => Promise.all([one.close(), two.close()]))
  const served = async (server: KeelsonProcess, path: string): Promise<void> =>
    until(async () => (await server.request('GET', path)).status === 200, { what: `${path} at ${server.url}` })
  /** Answers that nobody should get, whoever asks for what. */
  const wrong: string[] = []
  const ask = async (
    server: KeelsonProcess,
    method: string,
    path: string,
    body?: object,
  ): Promise<{ status: number; json: unknown }> => {
    const answer = await server.request(
      method,
      path,
      body,
      method === 'PATCH' ? { 'content-type': 'application/merge-patch+json' } : {},
    )
    if (answer.status >= 500) wrong.push(`${method} ${path}: ${answer.status} ${answer.text}`)
    return answer
  }

  await t.test('objects are written and watched on one while their definition changes on the other', async (t) => {
    t.equal((await ask(one, 'POST', DEFINITIONS, definition('things'))).status, 201)
    await Promise.all([served(one, collection('things')), served(two, collection('things'))])
    const watch = new WatchClient(two.url, `${collection('things')}?watch=true&resourceVersion=0`)
    t.teardown(() => watch.close())
    const written: string[] = []
    let isChanging = true
    const write = async (): Promise<void> => {
      for (let i = 0; isChanging || i < 60; i++) {
        const name = `o${i}`
        const { status } = await ask(i % 2 === 0 ? two : one, 'POST', collection('things'), object('things', name, i))
        if (status === 201) written.push(name)
        else wrong.push(`create of ${name}: ${status}`)
        const read = await ask(two, 'GET', `${collection('things')}/${name}`)
        if (read.status !== 200) wrong.push(`read of ${name}: ${read.status}`)
      }
    }
    const change = async (): Promise<void> => {
      // Descriptions, a column, a version more, a default: some make the memory of the objects anew, some do not.
      const path = `${DEFINITIONS}/things.example.com`
      for (const more of [
        { a: { type: 'string' } },
        { b: { type: 'string', default: 'x' } },
        { a: { type: 'integer' } },
      ]) {
        const { spec } = definition('things', more)
        t.equal((await ask(one, 'PATCH', path, { spec })).status, 200)
      }
      const { spec } = definition('things', {}, [{ name: 'v1', storage: true }, { name: 'v2' }])
      t.equal((await ask(one, 'PATCH', path, { spec })).status, 200)
      await served(two, collection('things', 'v2'))
      isChanging = false
    }
    await Promise.all([write(), change()])
    t.same(wrong, [])
    for (const server of [one, two])
      for (const version of ['v1', 'v2']) {
        const { json } = await ask(server, 'GET', collection('things', version))
        const names = (json as { items: { metadata: { name: string } }[] }).items.map(({ metadata }) => metadata.name)
        t.same(names.sort(), [...written].sort(), `all are there in ${version}`)
      }
    // A watch that a change of the definition has ended is taken up again by its client, from where it was.
    const seen = new Set(watch.events.filter(({ type }) => type === 'ADDED').map(({ name }) => name))
    const last = Math.max(0, ...watch.events.map(({ revision }) => revision))
    const again = new WatchClient(two.url, `${collection('things')}?watch=true&resourceVersion=${last}`)
    t.teardown(() => again.close())
    await until(
      () => {
        for (const { type, name } of [...watch.events, ...again.events]) if (type === 'ADDED') seen.add(name)
        return written.every((name) => seen.has(name)) || again.closed
      },
      { what: 'every object to be seen' },
    )
    t.same(
      written.filter((name) => !seen.has(name)),
      [],
      'nothing is lost to a watcher',
    )
  })

  await t.test('a definition that goes takes its objects with it on both, and may come back', async (t) => {
    for (const round of [1, 2, 3]) {
      const created = await ask(round % 2 === 0 ? one : two, 'POST', DEFINITIONS, definition('gadgets'))
      t.equal(created.status, 201)
      await Promise.all([served(one, collection('gadgets')), served(two, collection('gadgets'))])
      const { json } = await ask(two, 'GET', collection('gadgets'))
      t.same((json as { items: unknown[] }).items, [], `nothing is left of round ${round - 1}`)
      for (let i = 0; i < 5; i++)
        t.equal(
          (await ask(i % 2 === 0 ? one : two, 'POST', collection('gadgets'), object('gadgets', `g${i}`, i))).status,
          201,
        )
      t.equal((await ask(one, 'DELETE', `${DEFINITIONS}/gadgets.example.com`)).status, 200)
      for (const server of [one, two])
        await until(
          async () =>
            (await ask(server, 'GET', `${DEFINITIONS}/gadgets.example.com`)).status === 404 &&
            (await ask(server, 'GET', collection('gadgets'))).status === 404,
          { what: `gadgets to go at ${server.url}` },
        )
    }
    t.same(wrong, [])
  })

  await t.test('definitions that want one name agree who has it', async (t) => {
    const named = (plural: string) => ({
      ...definition(plural),
      spec: { ...definition(plural).spec, names: { plural, kind: 'Same' } },
    })
    type Definition = { status?: { conditions?: { type: string; status: string }[] } }
    const accepted = async (server: KeelsonProcess, plural: string): Promise<string | undefined> => {
      const { json } = await ask(server, 'GET', `${DEFINITIONS}/${plural}.example.com`)
      return (json as Definition).status?.conditions?.find(({ type }) => type === 'NamesAccepted')?.status
    }
    const settled = (server: KeelsonProcess, plural: string, status: string): Promise<void> =>
      until(async () => (await accepted(server, plural)) === status, { what: `${plural} to be ${status}` })
    const created = await Promise.all([
      ask(one, 'POST', DEFINITIONS, named('firsts')),
      ask(two, 'POST', DEFINITIONS, named('seconds')),
    ])
    const [first = 0, second = 0] = created.map(({ json }) =>
      Number((json as { metadata: { resourceVersion: string } }).metadata.resourceVersion),
    )
    // Who was stored first has the name, whichever server it came by.
    const [winner, loser] = first < second ? (['firsts', 'seconds'] as const) : (['seconds', 'firsts'] as const)
    await Promise.all([served(one, collection(winner)), served(two, collection(winner))])
    await Promise.all([settled(one, loser, 'False'), settled(two, loser, 'False')])
    for (const server of [one, two]) t.equal((await ask(server, 'GET', collection(loser))).status, 404)
    await ask(two, 'DELETE', `${DEFINITIONS}/${winner}.example.com`)
    await Promise.all([served(one, collection(loser)), served(two, collection(loser))])
    t.same(wrong, [])
  })
})
