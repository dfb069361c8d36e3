import t from 'tap'
import { deciding, frontEnd, message, turn } from '../front-end-fixture.js'

t.test('who may not is told so in Kubernetes’ words', async (t) => {
  const { send, ran } = frontEnd({ authorizer: deciding('no-opinion') })
  const words = (method: string, rawPath: string): string => message(send({ method, rawPath }))
  t.equal(words('GET', '/x'), 'forbidden: User "alice" cannot get path "/x"')
  t.equal(
    words('GET', '/api/v1/namespaces/default/pods/x'),
    'pods "x" is forbidden: User "alice" cannot get resource "pods" in API group "" in the namespace "default"',
  )
  t.equal(
    words('PUT', '/apis/apps/v1/namespaces/n/deployments/x/scale'),
    'deployments.apps "x" is forbidden: User "alice" cannot update resource "deployments/scale" in API group "apps" in the namespace "n"',
  )
  t.equal(
    words('GET', '/api/v1/nodes'),
    'nodes is forbidden: User "alice" cannot list resource "nodes" in API group "" at the cluster scope',
  )
  t.equal(words('GET', '/<b>'), 'forbidden: User "alice" cannot get path "/&lt;b&gt;"')
  const reasoned = frontEnd({ authorizer: deciding('deny', 'because') }).send({ rawPath: '/x' })
  t.equal(reasoned.status, '403 Forbidden')
  t.equal(message(reasoned), 'forbidden: User "alice" cannot get path "/x": because')
  t.same(JSON.parse(reasoned.body).details, {})
  t.same(ran, [])
})

t.test('an authorizer that fails is a 500, not a no', async (t) => {
  const { send } = frontEnd({
    authorizer: { authorize: async () => ({ decision: 'no-opinion', reason: '', error: 'no route' }) },
  })
  const port = send({ rawPath: '/x', query: 'a=b' })
  await turn()
  t.equal(port.status, '500 Internal Server Error')
  t.equal(port.body, 'Internal Server Error: "/x?a=b": no route\n')
})
