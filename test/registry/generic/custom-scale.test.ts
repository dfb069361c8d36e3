import t from 'tap'
import { customScaleRow } from '#keelson/registry/generic/custom-scale.js'

const row = customScaleRow({ specReplicasPath: '.spec.n', statusReplicasPath: '.status.n' })
const handlerOf = (object: object) =>
  row.make({ store: { get: async () => object }, apiVersion: 'e.com/v1', dependencies: {} } as never)

t.test('replicas are found where the definition says', async (t) => {
  const scale = await handlerOf({ metadata: { name: 'a' }, spec: { n: 3 }, status: { n: 2 } }).get?.(
    {} as never,
    'a',
    '',
  )
  t.match(scale, { kind: 'Scale', spec: { replicas: 3 }, status: { replicas: 2 } })
})

t.test('without replicas there is no scale', async (t) => {
  const { get } = handlerOf({ metadata: { name: 'a' } })
  await t.rejects(async () => void (await get?.({} as never, 'a', '')), /does not exist/)
})
