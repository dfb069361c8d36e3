import t from 'tap'
import type { FrontEndOptions } from '#keelson/main/request/front-end.js'
import { ServedResource } from '#keelson/main/verbs/served-resource.js'
import { frontEnd, message, turn } from './front-end-fixture.js'

t.test('a watch while memory fills is told to come again', async (t) => {
  const filling = { arena: () => undefined, fallen: () => false }
  const { send, server } = frontEnd({ views: () => filling as unknown as ReturnType<FrontEndOptions['views']> })
  const info = {
    group: '',
    version: 'v1',
    resource: 'configmaps',
    kind: 'ConfigMap',
    namespaced: true,
    singular: 'configmap',
    verbs: ['watch'],
    shortNames: [],
    categories: [],
    storageVersionHash: undefined,
    subresources: [],
    returnsDeleted: false,
    servedByDefault: true,
  }
  const options = { arena: 'configmaps', keyPrefix: '/registry/configmaps/', direct: true, isCustom: false }
  server.serve([new ServedResource({ ...options, info, selectableFields: [] })])
  const port = send({ rawPath: '/api/v1/configmaps', query: 'watch=1' })
  await turn()
  t.equal(port.status, '429 Too Many Requests')
  t.equal(message(port), 'storage is (re)initializing')
  t.equal(Object.fromEntries(port.headers)['Retry-After'], '1')
})
