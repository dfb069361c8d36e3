import t from 'tap'
import { resourceInfos } from '#keelson/api/resource-definition.js'
import { isStatusError } from '#keelson/api/status.js'
import { resolveRequestInfo } from '#keelson/main/request/request-info-resolver.js'
import { takesCustomPath } from '#keelson/main/verbs/custom-shape.js'
import { ServedResource } from '#keelson/main/verbs/served-resource.js'

function served(namespaced: boolean, resource = 'widgets'): ServedResource {
  const [info] = resourceInfos({
    group: 'example.com',
    resource,
    kind: 'Widget',
    listKind: 'WidgetList',
    singular: 'widget',
    shortNames: [],
    categories: [],
    namespaced,
    versions: [{ name: 'v1', served: true, hasStatus: true }],
    storageVersion: 'v1',
    uid: 'u',
    revision: 1,
    memoryForm: '',
    terminating: false,
  })
  return new ServedResource({
    info: info!,
    arena: `${resource}.example.com`,
    keyPrefix: '/registry/example.com/widgets/',
    direct: true,
    isCustom: true,
    selectableFields: [],
  })
}

function answer(resource: ServedResource, method: string, path: string): string {
  const info = resolveRequestInfo(method, `/apis/example.com/v1/${path}`, new URLSearchParams())
  try {
    return takesCustomPath(info, resource) ? 'served' : 'no path'
  } catch (error) {
    if (!isStatusError(error)) throw error
    return `${error.status.code} ${error.status.details?.group ?? ''}`
  }
}

t.test('what a namespaced resource has', async (t) => {
  const one = served(true)
  for (const path of ['namespaces/a/widgets', 'namespaces/a/widgets/x', 'namespaces/a/widgets/x/status', 'widgets'])
    t.equal(answer(one, 'GET', path), 'served', path)
  t.equal(
    answer(one, 'GET', 'namespaces/a/widgets/x/status/more'),
    'served',
    'what is behind a subresource is not looked at',
  )
  t.equal(answer(one, 'GET', 'widgets/x'), 'no path')
  t.equal(answer(one, 'POST', 'widgets'), 'no path')
  t.equal(answer(one, 'DELETE', 'widgets'), 'no path')
  t.equal(answer(one, 'GET', 'namespaces/a/widgets/x/scale'), '404 example.com')
  t.equal(answer(one, 'POST', 'namespaces/a/widgets/x/status'), '405 example.com')
  t.equal(answer(one, 'OPTIONS', 'namespaces/a/widgets/x'), '405 example.com')
  t.equal(answer(one, 'PATCH', 'namespaces/a/widgets'), '400 ')
})

t.test('what a resource of the cluster has, also when it is called namespaces', async (t) => {
  t.equal(answer(served(false), 'GET', 'widgets/x'), 'served')
  t.equal(answer(served(false), 'GET', 'namespaces/a/widgets/x'), 'no path')
  t.equal(answer(served(false, 'namespaces'), 'GET', 'namespaces'), 'served')
  t.equal(answer(served(false, 'namespaces'), 'GET', 'namespaces/x'), 'no path')
})
