import { rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { KeelsonProcess } from '../support/keelson-process.js'
import { smallVolume } from '../support/small-volume.js'

const MAPS = '/api/v1/namespaces/default/configmaps'

t.setTimeout(600_000)

t.test(
  'a full disk: writes are refused and say why, reads go on, /readyz tells, and room is enough to go on',
  async (t) => {
    const volume = smallVolume(t, 24)
    if (volume === undefined) {
      t.pass('a full disk', { skip: 'no small file system can be mounted here' })
      return
    }
    const ballast = path.join(volume, 'ballast')
    writeFileSync(ballast, Buffer.alloc(12 * 2 ** 20))
    const server = await KeelsonProcess.start([], volume)
    t.teardown(() => server.stop())
    const create = (name: string): ReturnType<KeelsonProcess['request']> =>
      server.request('POST', MAPS, { metadata: { name }, data: { text: name.padEnd(200_000, 'x') } })
    t.equal((await server.request('GET', '/readyz')).status, 200)
    const made: string[] = []
    let refused = await create('m0')
    for (let i = 1; refused.status === 201; i++) {
      made.push(`m${i - 1}`)
      refused = await create(`m${i}`)
    }
    t.equal(refused.status, 500)
    t.match(refused.json, {
      kind: 'Status',
      reason: 'InternalError',
      // LMDB is not asked: what it does where there is no room may end the process.
      message: /the disk of .* is full \(too little room is left for a commit\): nothing was written; reads go on/,
    })
    const read = await server.request('GET', MAPS)
    const names = (read.json as { items: { metadata: { name: string } }[] }).items.map(({ metadata }) => metadata.name)
    t.same(
      names.filter((name) => name.startsWith('m')).sort(),
      made.sort(),
      'reads go on, and show what was acknowledged',
    )
    t.match(await server.request('GET', '/readyz'), { status: 500, text: /\[-\]storage-writes failed/ })
    t.match((await server.request('GET', '/readyz/storage-writes')).text, /the disk of .* is full/)
    t.equal((await server.request('GET', '/livez')).status, 200, 'a restart would not help')
    rmSync(ballast)
    t.equal((await server.request('GET', '/readyz')).status, 200, 'there is room again')
    t.equal((await create('after')).status, 201)
  },
)
