import t from 'tap'
import { parseBoolean } from '#keelson/api/list-options.js'
import { resolveRequestInfo } from '#keelson/main/request/request-info-resolver.js'

const info = (method: string, target: string) => {
  const [path = '', query = ''] = target.split('?')
  const { verb, apiGroup, apiVersion, namespace, resource, subresource, name, isResourceRequest } = resolveRequestInfo(
    method,
    path,
    new URLSearchParams(query),
  )
  return isResourceRequest
    ? [verb, `${apiGroup}/${apiVersion}`, namespace, resource, name, subresource].join(' ')
    : `${verb} (none)`
}

t.test('what a path and a method ask for', async (t) => {
  const cases: [method: string, target: string, means: string][] = [
    ['GET', '/api/v1/namespaces/ns/pods/a', 'get /v1 ns pods a '],
    ['GET', '/api/v1/namespaces/ns/pods', 'list /v1 ns pods  '],
    ['GET', '/api/v1/pods', 'list /v1  pods  '],
    ['GET', '/api/v1/pods?watch=true', 'watch /v1  pods  '],
    ['GET', '/api/v1/pods?watch=0', 'list /v1  pods  '],
    ['GET', '/api/v1/pods?watch', 'watch /v1  pods  '],
    ['GET', '/api/v1/watch/namespaces/ns/pods', 'watch /v1 ns pods  '],
    ['GET', '/api/v1/watch/namespaces/ns/pods/a', 'watch /v1 ns pods a '],
    ['POST', '/apis/apps/v1/namespaces/ns/deployments', 'create apps/v1 ns deployments  '],
    ['PUT', '/apis/apps/v1/namespaces/ns/deployments/d/status', 'update apps/v1 ns deployments d status'],
    ['PATCH', '/apis/apps/v1/namespaces/ns/deployments/d', 'patch apps/v1 ns deployments d '],
    ['DELETE', '/apis/apps/v1/namespaces/ns/deployments/d', 'delete apps/v1 ns deployments d '],
    ['DELETE', '/apis/apps/v1/namespaces/ns/deployments', 'deletecollection apps/v1 ns deployments  '],
    ['GET', '/api/v1/namespaces', 'list /v1  namespaces  '],
    ['GET', '/api/v1/namespaces/ns', 'get /v1 ns namespaces ns '],
    ['PUT', '/api/v1/namespaces/ns/finalize', 'update /v1 ns namespaces ns finalize'],
    ['GET', '/api/v1/namespaces/ns/status', 'get /v1 ns namespaces ns status'],
    ['OPTIONS', '/api/v1/pods', ' /v1  pods  '],
    ['GET', '/', 'get (none)'],
    ['GET', '/api/v1', 'get (none)'],
    ['GET', '/apis/apps/v1', 'get (none)'],
    ['GET', '/healthz/etcd/more/parts', 'get (none)'],
    ['POST', '/version', 'post (none)'],
    ['GET', '/api/v1/watch', 'get (none)'],
  ]
  for (const [method, target, means] of cases) t.equal(info(method, target), means, `${method} ${target}`)
})

t.test('a field selector of one name makes it a request for that object', async (t) => {
  const named = (selector: string): string =>
    resolveRequestInfo('GET', '/api/v1/pods', new URLSearchParams({ fieldSelector: selector })).name
  t.equal(named('metadata.name=a'), 'a')
  t.equal(named('metadata.name==a'), 'a')
  t.equal(named('metadata.name!=a'), '')
  t.equal(named('metadata.name=a,spec.nodeName=b'), 'a')
  t.equal(named('spec.nodeName=b,metadata.name=a'), 'a')
  t.equal(named('metadata.name=a/b'), '', 'no name that a path could have')
  t.equal(named('metadata.name=a,spec'), '', 'a selector that cannot be read')
  t.equal(named('xmetadata.name=a'), '')
  const removed = resolveRequestInfo(
    'DELETE',
    '/api/v1/pods',
    new URLSearchParams({ fieldSelector: 'metadata.name=a' }),
  )
  t.same([removed.verb, removed.name], ['deletecollection', ''])
})

t.test('only a word for false is false', async (t) => {
  for (const word of ['', 'true', '1', 'yes', 'False!', 'f', '00']) t.equal(parseBoolean(word), true, word)
  for (const word of ['false', '0', 'FALSE', 'False', 'fAlSe']) t.equal(parseBoolean(word), false, word)
  t.equal(parseBoolean(null), false)
})

t.test('what a proxy passes on is cut from the path where it was read', async (t) => {
  const cut = (rawPath: string): string => {
    const { proxied, namespace, name } = resolveRequestInfo('GET', rawPath, new URLSearchParams())
    return proxied === undefined ? 'none' : `${namespace} ${name} ${proxied.prefix} ${proxied.rest}`
  }
  const pod = '/api/v1/namespaces/a/pods/p/proxy'
  t.equal(cut(pod), `a p ${pod} `)
  t.equal(cut(`${pod}/`), `a p ${pod} /`)
  t.equal(cut(`${pod}/x%2Fy/http%3A%2F%2Fz//?`), `a p ${pod} /x%2Fy/http%3A%2F%2Fz//?`)
  t.equal(cut(`${pod}%2Fadmin%2fx`), `a p ${pod} /admin%2fx`, 'the slash that ends the name may be encoded')
  t.equal(cut(`${pod}//x`), `a p ${pod} //x`)
  t.equal(cut('//api//v1/namespaces/a/pods%2fp/%70roxy/x'), 'a p /api/v1/namespaces/a/pods/p/%70roxy /x')
  t.equal(cut('/api/v1/nodes/https:n:1/proxy/proxy/x'), ' https:n:1 /api/v1/nodes/https:n:1/proxy /proxy/x')
  t.equal(cut('/api/v1/namespaces/a/pods/p/log/proxy'), 'none')
  t.equal(cut('/api/v1/namespaces/a/pods/proxy'), 'none')
  t.throws(() => cut(`${pod}/%zz`), { message: 'the path is not valid percent-encoding' })
})
