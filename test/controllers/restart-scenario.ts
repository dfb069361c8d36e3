import type { Test } from 'tap'
import type { Endpoints } from '#keelson/api/generated/kinds/core.v1.js'
import type { KubeObject } from '#keelson/api/object.js'
import { ApiClient } from '../support/api-client.js'
import { KeelsonProcess } from '../support/keelson-process.js'
import { until } from '../support/until.js'

const FLAGS = ['--controllers=*,bootstrapsigner,tokencleaner']
/** Objects of each group of a round. */
const SIZE = 20

/** A generator of the same numbers for the same seed (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/**
 * Gives every controller something to do, kills the server in the middle of it, starts it again, and at the end looks whether
 * everything that was to be done is done, and nothing else.
 */
export class RestartScenario {
  readonly #t: Test
  readonly #random: () => number
  #server: KeelsonProcess | undefined

  constructor(t: Test, seed: number) {
    this.#t = t
    this.#random = seeded(seed)
    t.comment(`seed ${seed}`)
    t.teardown(() => this.#server?.close())
  }

  async run(kills: number): Promise<void> {
    this.#server = await KeelsonProcess.start(FLAGS)
    await this.#api.create('/api/v1/nodes', { metadata: { name: 'node' } })
    for (let round = 0; round < kills; round++) {
      await this.#prepare(round)
      await this.#begin(round)
      await new Promise((resolve) => setTimeout(resolve, this.#random() * 400))
      const { dataDir } = this.#server
      await this.#server.stop('SIGKILL')
      this.#server = await KeelsonProcess.start(FLAGS, dataDir)
    }
    for (let round = 0; round < kills; round++) await this.#check(round)
    await this.#nothingIsOrphaned()
  }

  get #api(): ApiClient {
    return new ApiClient(this.#server!)
  }

  /** What is there before: everything of a round lies in namespaces of its own. */
  async #prepare(round: number): Promise<void> {
    const api = this.#api
    const [gone, kept] = [`/api/v1/namespaces/gone-${round}`, `/api/v1/namespaces/kept-${round}`]
    for (const name of [`gone-${round}`, `kept-${round}`])
      await api.create('/api/v1/namespaces', { metadata: { name } })
    const reference = ({ metadata }: KubeObject) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      name: metadata?.name,
      uid: metadata?.uid,
      blockOwnerDeletion: true,
    })
    const owners = await Promise.all(
      ['background', 'foreground', 'orphan', 'stays'].map((name) =>
        api.create(`${kept}/configmaps`, { metadata: { name } }),
      ),
    )
    const [, , , stays] = owners
    await Promise.all(
      Array.from({ length: SIZE }, async (_, i) => {
        await api.create(`${gone}/configmaps`, { metadata: { name: `c${i}` } })
        for (const owner of owners)
          await api.create(`${kept}/secrets`, {
            metadata: { name: `${owner.metadata?.name}-${i}`, ownerReferences: [reference(owner)] },
          })
        const both = [reference(owners[0]!), reference(stays!)]
        await api.create(`${kept}/secrets`, { metadata: { name: `both-${i}`, ownerReferences: both } })
      }),
    )
    const hard = { 'count/secrets': '1000' }
    await api.create(`${kept}/resourcequotas`, { metadata: { name: 'quota' }, spec: { hard } })
    await api.create(`${kept}/services`, {
      metadata: { name: 'service' },
      spec: { selector: { app: 'a' }, ports: [{ port: 80 }] },
    })
    const spec = { nodeName: 'node', containers: [{ name: 'c', image: 'i' }] }
    const claimed = { ...spec, volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'claim' } }] }
    await api.create(`${kept}/persistentvolumeclaims`, {
      metadata: { name: 'claim' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    })
    for (const name of ['p0', 'p1'])
      await api.create(`${kept}/pods`, {
        metadata: { name, labels: { app: 'a' } },
        spec: name === 'p0' ? claimed : spec,
      })
  }

  /** Everything that controllers must go on with, begun at once; answers may be lost with the server, writes are not. */
  async #begin(round: number): Promise<void> {
    const api = this.#api
    const kept = `/api/v1/namespaces/kept-${round}`
    const status = (i: number) => ({
      status: {
        phase: 'Running',
        podIPs: [{ ip: `10.9.0.${i}` }],
        podIP: `10.9.0.${i}`,
        conditions: [{ type: 'Ready', status: 'True' }],
      },
    })
    const remove = (name: string, propagationPolicy: string): Promise<number> =>
      api.delete(`${kept}/configmaps/${name}`, { propagationPolicy })
    const done = await Promise.all([
      api.delete(`/api/v1/namespaces/gone-${round}`),
      remove('background', 'Background'),
      remove('foreground', 'Foreground'),
      remove('orphan', 'Orphan'),
      api.delete(`${kept}/persistentvolumeclaims/claim`),
      api.delete(`${kept}/pods/p0?gracePeriodSeconds=0`),
      api.merge(`${kept}/pods/p1/status`, status(1)).then(() => 200),
      api
        .create('/apis/rbac.authorization.k8s.io/v1/clusterroles', {
          metadata: { name: `part-${round}`, labels: { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' } },
          rules: [{ verbs: ['get'], apiGroups: ['example.com'], resources: [`round-${round}`] }],
        })
        .then(() => 200),
    ])
    this.#t.ok(
      done.every((code) => code < 300),
      `round ${round} is begun`,
    )
  }

  async #check(round: number): Promise<void> {
    const api = this.#api
    const t = this.#t
    const kept = `/api/v1/namespaces/kept-${round}`
    await api.goes(`/api/v1/namespaces/gone-${round}`)
    for (const owner of ['background', 'foreground', 'orphan']) await api.goes(`${kept}/configmaps/${owner}`)
    const names = async (): Promise<string[]> =>
      (await api.list(`${kept}/secrets`)).map(({ metadata }) => metadata?.name?.replace(/-\d+$/, '') ?? '')
    await until(async () => (await names()).length === 3 * SIZE, {
      what: `the secrets of round ${round} to be collected`,
    })
    t.same(
      [...new Set(await names())].sort(),
      ['both', 'orphan', 'stays'],
      'what has an owner left, or was let go, stays',
    )
    for (const secret of await api.list(`${kept}/secrets`)) {
      const owners = (secret.metadata?.ownerReferences ?? []).map(({ name }) => name)
      const isOrphan = secret.metadata?.name?.startsWith('orphan') === true
      if (isOrphan ? owners.length > 0 : owners.includes('stays') === false)
        t.fail(`${secret.metadata?.name}: ${owners.join()}`)
    }
    await api.goes(`${kept}/persistentvolumeclaims/claim`)
    await api.appears(`${kept}/serviceaccounts/default`)
    await api.when<Endpoints & KubeObject>(
      `${kept}/endpoints/service`,
      'the pod that is left',
      ({ subsets = [] }) =>
        subsets.length === 1 && subsets[0]?.addresses?.length === 1 && subsets[0].addresses[0]?.ip === '10.9.0.1',
    )
    await until(
      async () => {
        const slices = await api.list<KubeObject & { endpoints?: { addresses: string[] }[] }>(
          `/apis/discovery.k8s.io/v1/namespaces/kept-${round}/endpointslices`,
        )
        return (
          slices.flatMap(({ endpoints }) => (endpoints ?? []).flatMap(({ addresses }) => addresses)).join() ===
          '10.9.0.1'
        )
      },
      { what: `the slice of round ${round}` },
    )
    await api.when(`${kept}/resourcequotas/quota`, 'the quota to be right', (quota) => {
      const used = (quota['status'] as { used?: Record<string, string> } | undefined)?.used
      return used?.['count/secrets'] === String(3 * SIZE)
    })
    await api.when('/apis/rbac.authorization.k8s.io/v1/clusterroles/view', 'the aggregated rule', (role) =>
      JSON.stringify(role['rules']).includes(`"round-${round}"`),
    )
  }

  /** Whatever names an owner has one that is there. */
  async #nothingIsOrphaned(): Promise<void> {
    const all = (
      await Promise.all(
        ['configmaps', 'secrets', 'pods', 'services', 'endpoints'].map((name) => this.#api.list(`/api/v1/${name}`)),
      )
    ).flat()
    const uids = new Set(all.map(({ metadata }) => metadata?.uid))
    const lost = all.filter(({ metadata }) => metadata?.ownerReferences?.some(({ uid }) => !uids.has(uid)))
    this.#t.same(
      lost.map(({ metadata }) => `${metadata?.namespace}/${metadata?.name}`),
      [],
    )
    const ending = all.filter(({ metadata }) => metadata?.namespace?.startsWith('gone-'))
    this.#t.same(ending.length, 0)
  }
}
