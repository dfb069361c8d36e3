import t from 'tap'
import type { UserInfo } from '#keelson/api/user-info.js'
import { Impersonation, wantedUser } from '#keelson/auth/authn/impersonation.js'
import type { Attributes, Authorizer } from '#keelson/auth/interface.js'
import { credentials } from '../../support/credentials.js'

const user = (name: string, extra: UserInfo['extra'] = {}): UserInfo => ({ name, uid: '', groups: [], extra })
const request = (who: UserInfo): Attributes => ({
  user: who,
  verb: 'list',
  isResourceRequest: true,
  namespace: 'default',
  apiGroup: '',
  apiVersion: 'v1',
  resource: 'pods',
  subresource: '',
  name: '',
  path: '',
})
const describe = ({ verb, apiGroup, resource, subresource, namespace, name }: Attributes): string =>
  [verb, apiGroup, resource + (subresource === '' ? '' : `/${subresource}`), namespace, name].join(' ')

/** Says yes to these, and keeps what it was asked. */
function authorizer(...allowed: string[]): Authorizer & { asked: string[] } {
  const asked: string[] = []
  return {
    asked,
    authorize: (attributes) => {
      asked.push(describe(attributes))
      return { decision: allowed.includes(describe(attributes)) ? 'allow' : 'no-opinion', reason: '' }
    },
  }
}

const wanted = (...headers: [string, string][]): UserInfo => wantedUser(credentials(headers))!
const message = (error: unknown): string => (error as Error).message

t.test('headers: each as often as it was sent, commas and all', async (t) => {
  t.equal(wantedUser(credentials()), undefined)
  t.strictSame(
    wanted(
      ['impersonate-user', 'a,b'],
      ['impersonate-user', 'second'],
      ['impersonate-group', 'x,y'],
      ['impersonate-group', 'z'],
      ['impersonate-extra-acme.io%2fk', '1'],
      ['impersonate-extra-acme.io%2fk', '2'],
      ['impersonate-extra-%zz', '3'],
    ),
    { name: 'a,b', uid: '', groups: ['x,y', 'z'], extra: { 'acme.io/k': ['1', '2'], '%zz': ['3'] } },
  )
  t.throws(() => wanted(['impersonate-group', 'dev']), {
    message:
      'requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string{"dev"}, Extra:map[string][]string(nil)} without impersonating a user name',
  })
  t.throws(
    () => wanted(['impersonate-user', '']),
    { message: /is empty/ },
    'nobody stays who they are by an empty name',
  )
})

t.test('unconstrained: each part is asked for', async (t) => {
  const all = [
    'impersonate  users  bob',
    'impersonate authentication.k8s.io uids  7',
    'impersonate  groups  dev',
    'impersonate authentication.k8s.io userextras/k  v',
  ]
  const whole = wanted(
    ['impersonate-user', 'bob'],
    ['impersonate-uid', '7'],
    ['impersonate-group', 'dev'],
    ['impersonate-extra-k', 'v'],
  )
  const yes = await new Impersonation(authorizer(...all)).impersonate(whole, request(user('alice')))
  t.strictSame(yes, {
    user: { name: 'bob', uid: '7', groups: ['dev', 'system:authenticated'], extra: { k: ['v'] } },
    constraint: '',
  })
  for (const missing of all) {
    const some = authorizer(...all.filter((one) => one !== missing))
    await t.rejects(new Impersonation(some).impersonate(whole, request(user('alice'))), missing)
  }
})

t.test('constrained: the request while impersonating, and the user', async (t) => {
  const modes = authorizer(
    'impersonate-on:user-info:list  pods default ',
    'impersonate:user-info authentication.k8s.io users  bob',
  )
  const impersonation = new Impersonation(modes)
  const yes = await impersonation.impersonate(wanted(['impersonate-user', 'bob']), request(user('alice')))
  t.equal(yes.constraint, 'impersonate:user-info')
  const carol = wanted(['impersonate-user', 'carol'])
  const no = await impersonation.impersonate(carol, request(user('alice'))).catch(message)
  t.match(
    no,
    'users.authentication.k8s.io "carol" is forbidden: User "alice" cannot impersonate:user-info resource "users"',
  )
})

t.test('constrained impersonation never makes a master', async (t) => {
  const everything: Authorizer = {
    authorize: ({ verb }) => ({ decision: verb === 'impersonate' ? 'no-opinion' : 'allow', reason: '' }),
  }
  const masters = wanted(['impersonate-user', 'bob'], ['impersonate-group', 'system:masters'])
  const no = await new Impersonation(everything).impersonate(masters, request(user('alice'))).catch(message)
  t.match(no, 'impersonating the system:masters group is not allowed')
})

t.test('service accounts and nodes have the groups of their names', async (t) => {
  const everything: Authorizer = { authorize: () => ({ decision: 'allow', reason: '' }) }
  const groups = async (name: string, requestor = user('alice')): Promise<readonly string[]> =>
    (await new Impersonation(everything).impersonate(wanted(['impersonate-user', name]), request(requestor))).user
      .groups
  t.strictSame(await groups('system:serviceaccount:ns:a'), [
    'system:serviceaccounts',
    'system:serviceaccounts:ns',
    'system:authenticated',
  ])
  t.strictSame(await groups('system:node:n1'), ['system:nodes', 'system:authenticated'])
  t.strictSame(await groups('system:anonymous'), ['system:unauthenticated'])
  t.strictSame(await groups('system:serviceaccount:ns'), ['system:authenticated'], 'a name that is none is a user')
})

t.test('a service account on a node may be allowed to act as that node and no other', async (t) => {
  const own = authorizer(
    'impersonate-on:associated-node:list  pods default ',
    'impersonate:associated-node authentication.k8s.io nodes  *',
  )
  const requestor = user('system:serviceaccount:kube-system:agent', {
    'authentication.kubernetes.io/node-name': ['n1'],
  })
  const impersonation = new Impersonation(own)
  const yes = await impersonation.impersonate(wanted(['impersonate-user', 'system:node:n1']), request(requestor))
  t.equal(yes.constraint, 'impersonate:associated-node')
  await t.rejects(impersonation.impersonate(wanted(['impersonate-user', 'system:node:n2']), request(requestor)))
})
