/**
 * Services created and deleted by four clients at once over two servers on one etcd: no address and no port is given
 * twice, none is left behind. KEELSON_SERVICES says how many; 10000 takes about a minute.
 */
import t from 'tap'
import { BuiltinSchemas } from '#keelson/api/builtin-schema.js'
import { decodeProtobuf } from '#keelson/api/protobuf/envelope.js'
import { nullLogger } from '#keelson/lib/logger.js'
import { EtcdKV } from '#keelson/storage/etcd/etcd-kv.js'
import { EtcdServer, skipWithoutEtcd } from '../support/etcd-server.js'
import { KeelsonProcess } from '../support/keelson-process.js'

const TOTAL = Number(process.env['KEELSON_SERVICES'] ?? 240)
const CLIENTS = 4
const AT_ONCE = 8
/** More than that are not kept alive by one of them, so that there are ports for all. */
const ALIVE = 40
const PATH = '/api/v1/namespaces/default/services'

interface Service {
  readonly metadata: { readonly name: string }
  readonly spec: { readonly clusterIP: string; readonly ports: readonly { readonly nodePort?: number }[] }
}

/** What somebody has now: a second one that gets it shows. */
class Held {
  readonly duplicates: string[] = []
  readonly #owners = new Map<string, string>()

  take(what: string, owner: string): void {
    const other = this.#owners.get(what)
    if (other !== undefined) this.duplicates.push(`${what}: ${other} and ${owner}`)
    this.#owners.set(what, owner)
  }

  /** Before it is given back: from then on another may have it. */
  release(what: string): void {
    this.#owners.delete(what)
  }
}

const things = ({ spec }: Service): string[] => [
  spec.clusterIP,
  ...spec.ports.flatMap(({ nodePort }) => (nodePort === undefined ? [] : [`port ${nodePort}`])),
]

async function runClient(client: number, servers: readonly KeelsonProcess[], held: Held): Promise<string[]> {
  const problems: string[] = []
  const alive: Service[] = []
  let next = 0
  const remove = async (service: Service): Promise<void> => {
    for (const what of things(service)) held.release(what)
    const server = servers[(client + 1) % servers.length]!
    const { status, text } = await server.request('DELETE', `${PATH}/${service.metadata.name}`)
    if (status !== 200) problems.push(`DELETE ${service.metadata.name}: ${status} ${text}`)
  }
  const work = async (): Promise<void> => {
    for (;;) {
      const i = next++
      if (i >= TOTAL / CLIENTS) return
      const name = `s-${client}-${i}`
      const type = i % 3 === 0 ? 'NodePort' : 'ClusterIP'
      const { status, text, json } = await servers[(client + i) % servers.length]!.request('POST', PATH, {
        metadata: { name },
        spec: { type, ports: [{ port: 80 }] },
      })
      if (status !== 201) problems.push(`POST ${name}: ${status} ${text}`)
      else {
        for (const what of things(json as Service)) held.take(what, name)
        alive.push(json as Service)
      }
      if (alive.length > ALIVE) await remove(alive.shift()!)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  while (alive.length > 0) await Promise.all(alive.splice(0, AT_ONCE).map(remove))
  return problems
}

async function portBytes(endpoint: string): Promise<number> {
  const kv = new EtcdKV({ endpoints: [endpoint], logger: nullLogger })
  try {
    const { kv: stored } = await kv.get('/registry/ranges/servicenodeports')
    const schemas = new BuiltinSchemas()
    const { object } = decodeProtobuf(stored!.value, (_, kind) => schemas.kind('', 'v1', kind))
    return Buffer.from((object['data'] as string | undefined) ?? '', 'base64').length
  } finally {
    await kv.close()
  }
}

t.setTimeout(900_000)
t.test('no address and no port is given twice, none is left behind', { skip: skipWithoutEtcd }, async (t) => {
  const etcd = await EtcdServer.start()
  t.teardown(() => etcd.stop())
  const flags = [`--etcd-servers=${etcd.endpoint}`, '--service-cluster-ip-range=10.96.0.0/22']
  const servers = await Promise.all([KeelsonProcess.start(flags), KeelsonProcess.start(flags)])
  for (const server of servers) t.teardown(() => server.close())
  const held = new Held()
  const started = performance.now()
  const problems = await Promise.all(Array.from({ length: CLIENTS }, (_, client) => runClient(client, servers, held)))
  t.comment(`${TOTAL} services created and deleted in ${((performance.now() - started) / 1000).toFixed(1)} s`)
  t.same(problems.flat(), [])
  t.same(held.duplicates, [])
  const left = (await servers[0]!.request('GET', '/apis/networking.k8s.io/v1/ipaddresses')).json as {
    items: Service[]
  }
  t.same(
    left.items.map(({ metadata }) => metadata.name),
    ['10.96.0.1'],
    'the kubernetes service alone has an address',
  )
  t.equal(await portBytes(etcd.endpoint), 0, 'no port is taken')
})
