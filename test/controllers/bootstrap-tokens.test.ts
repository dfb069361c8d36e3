import { createHmac } from 'node:crypto'
import t from 'tap'
import type { ConfigMap } from '#keelson/api/generated/kinds/core.v1.js'
import type { KubeObject } from '#keelson/api/object.js'
import { ApiClient } from '../support/api-client.js'
import { KeelsonProcess } from '../support/keelson-process.js'

const server = await KeelsonProcess.start(['--controllers=bootstrapsigner,tokencleaner', '--authorization-mode=RBAC'])
t.teardown(() => server.close())
const api = new ApiClient(server)
const SECRETS = '/api/v1/namespaces/kube-system/secrets'
const MAPS = '/api/v1/namespaces/kube-public/configmaps'
type Info = ConfigMap & KubeObject

const token = (id: string, more: Record<string, string> = {}): Promise<KubeObject> =>
  api.create(SECRETS, {
    metadata: { name: `bootstrap-token-${id}` },
    type: 'bootstrap.kubernetes.io/token',
    stringData: { 'token-id': id, 'token-secret': '0123456789abcdef', 'usage-bootstrap-signing': 'true', ...more },
  })
const inMs = (ms: number): string => new Date(Date.now() + ms).toISOString().replace(/\.\d+/, '')

t.test('cluster-info is signed by every token that may sign, and by no other', async (t) => {
  await api.create(MAPS, { metadata: { name: 'cluster-info' }, data: { kubeconfig: 'the content' } })
  await token('aaaaaa')
  await token('bbbbbb', { 'usage-bootstrap-signing': 'false' })
  const { data = {} } = await api.when<Info>(`${MAPS}/cluster-info`, 'a signature', (info) =>
    Object.hasOwn(info.data ?? {}, 'jws-kubeconfig-aaaaaa'),
  )
  t.same(Object.keys(data).sort(), ['jws-kubeconfig-aaaaaa', 'kubeconfig'])
  const [head, content, mac] = data['jws-kubeconfig-aaaaaa']!.split('.')
  t.equal(content, '', 'the content is not in the signature')
  t.same(JSON.parse(Buffer.from(head!, 'base64url').toString()), { alg: 'HS256', kid: 'aaaaaa' })
  const signed = `${head}.${Buffer.from('the content').toString('base64url')}`
  t.equal(mac, createHmac('sha256', '0123456789abcdef').update(signed).digest('base64url'))

  await api.merge(`${MAPS}/cluster-info`, { data: { kubeconfig: 'changed' } })
  await api.when<Info>(
    `${MAPS}/cluster-info`,
    'another signature',
    (info) => info.data?.['jws-kubeconfig-aaaaaa'] !== data['jws-kubeconfig-aaaaaa'],
  )
  await api.delete(`${SECRETS}/bootstrap-token-aaaaaa`)
  await api.when<Info>(
    `${MAPS}/cluster-info`,
    'the signature to go',
    (info) => Object.keys(info.data ?? {}).length === 1,
  )
})

t.test('tokens go when they expire, others stay', async (t) => {
  await token('cccccc', { expiration: inMs(-1000) })
  await token('dddddd', { expiration: inMs(2000) })
  await token('eeeeee', { expiration: inMs(3_600_000) })
  await token('ffffff')
  await api.goes(`${SECRETS}/bootstrap-token-cccccc`)
  await api.goes(`${SECRETS}/bootstrap-token-dddddd`)
  t.ok(await api.get(`${SECRETS}/bootstrap-token-eeeeee`))
  t.ok(await api.get(`${SECRETS}/bootstrap-token-ffffff`))
})
