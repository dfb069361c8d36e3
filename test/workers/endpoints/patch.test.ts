import t from 'tap'
import type { KubeObject } from '#keelson/api/object.js'
import { Cancellation } from '#keelson/lib/cancellation.js'
import { patch } from '#keelson/workers/endpoints/patch.js'
import { answered, EndpointFixture, refusal, type SentRequest } from '../../support/endpoint-fixture.js'

const CONFIGMAPS = '/api/v1/namespaces/default/configmaps'
const A = `${CONFIGMAPS}/a`
const JSON_PATCH = 'application/json-patch+json'
const MERGE = 'application/merge-patch+json'
const STRATEGIC = 'application/strategic-merge-patch+json'
const APPLY = 'application/apply-patch+yaml'

const send = (
  fixture: EndpointFixture,
  contentType: string,
  body: object | string,
  query = '',
  sent: SentRequest = {},
) => patch(fixture.worker('PATCH', `${A}${query}`, { contentType, body, ...sent }))
const apply = (fixture: EndpointFixture, fields: object, query = '') =>
  send(
    fixture,
    APPLY,
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, ...fields },
    `?fieldManager=m${query}`,
  )

async function withA(fixture = new EndpointFixture()): Promise<{ fixture: EndpointFixture; a: KubeObject }> {
  return { fixture, a: await fixture.create(CONFIGMAPS, { metadata: { name: 'a' }, data: { k: '0', l: '0' } }) }
}

t.test('three forms of patch change what they name', async (t) => {
  const forms: [string, object][] = [
    [JSON_PATCH, [{ op: 'replace', path: '/data/k', value: '1' }]],
    [MERGE, { data: { k: '1' } }],
    [STRATEGIC, { data: { k: '1' } }],
  ]
  for (const [contentType, body] of forms) {
    const { fixture } = await withA()
    const { status, object } = answered(await send(fixture, `${contentType}; charset=utf-8`, body))
    t.equal(status, 200, contentType)
    t.same(object['data'], { k: '1', l: '0' }, contentType)
    t.same(await fixture.stored(A), object)
  }
})

t.test('what is no patch is refused by its type, letter for letter', async (t) => {
  const { fixture } = await withA()
  for (const contentType of ['', 'application/json', 'Application/Merge-Patch+JSON', 'constructor'])
    t.match(await refusal(send(fixture, contentType, {})), { code: 415 }, contentType)
})

t.test('a patch of nothing is not found, whatever it says; a broken one of something is a bad request', async (t) => {
  const { fixture, a } = await withA()
  const missing = patch(fixture.worker('PATCH', `${CONFIGMAPS}/b`, { contentType: MERGE, body: '{' }))
  t.match(await refusal(missing), { code: 404 })
  t.match(await refusal(send(fixture, MERGE, '{')), { code: 400 })
  t.match(await refusal(send(fixture, MERGE, '[]')), { code: 400 })
  t.match(await refusal(send(fixture, JSON_PATCH, '{}')), { code: 400 })
  t.match(await refusal(send(fixture, JSON_PATCH, [{ op: 'test', path: '/data/k', value: 'x' }])), { code: 422 })
  t.match(await refusal(send(fixture, MERGE, `{"data":{${'"k":"1",'.repeat(250_000)}"l":"1"}}`)), { code: 413 })
  t.same(await fixture.stored(A), a)
})

t.test('a patch may not make another object or another kind of it', async (t) => {
  const { fixture } = await withA()
  t.match(await refusal(send(fixture, MERGE, { metadata: { name: 'b' } })), { code: 400 })
  t.match(await refusal(send(fixture, MERGE, { metadata: { namespace: 'other' } })), { code: 400 })
  t.match(await refusal(send(fixture, MERGE, { metadata: { uid: 'another' } })), { code: 422 })
  t.match(await refusal(send(fixture, MERGE, { kind: 'Secret' })), {
    code: 422,
    details: { causes: [{ field: 'patch' }] },
  })
  const { object } = answered(await send(fixture, STRATEGIC, { kind: 'Secret', data: { k: '2' } }))
  t.match(object, { kind: 'ConfigMap', data: { k: '2' } }, 'a strategic one is of the fields of a known type')
})

t.test('what a patch leaves must decode', async (t) => {
  const { fixture } = await withA()
  t.match(await refusal(send(fixture, MERGE, { data: 'text' })), {
    code: 422,
    details: { causes: [{ field: 'patch' }] },
  })
})

t.test('unknown and doubled fields are warned of, refused or passed over, as the client says', async (t) => {
  const { fixture } = await withA()
  const body = '{"data":{"k":"1","k":"2"},"dta":{}}'
  const expected = ['duplicate field "data.k"', 'unknown field "dta"']
  t.same((await send(fixture, MERGE, body, '?dryRun=All')).warnings, expected)
  t.same((await send(fixture, MERGE, body, '?dryRun=All&fieldValidation=Ignore')).warnings, [])
  const strict = await refusal(send(fixture, MERGE, body, '?dryRun=All&fieldValidation=Strict'))
  t.match(strict, { code: 422, message: /duplicate field "data.k", unknown field "dta"/ })
  t.same(
    (await send(fixture, JSON_PATCH, [{ op: 'test', path: '/data/k', value: '0', why: 'x' }], '?dryRun=All')).warnings,
    ['json patch unknown field "[0].why"'],
  )
})

t.test('at most a hundred such fields are named', async (t) => {
  const { fixture } = await withA()
  const unknown = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`u${i}`, 1]))
  const { message = '' } = await refusal(send(fixture, MERGE, unknown, '?fieldValidation=Strict'))
  t.equal(message.match(/unknown field/g)?.length, 100)
})

t.test('a patch is made again on what another writer left', async (t) => {
  const { fixture } = await withA()
  let once = true
  fixture.kv.interfere = async (call) => {
    if (call !== 'put' || !once) return
    once = false
    await fixture.interfere(A, (object) => {
      object['data'] = { k: '0', l: 'theirs' }
    })
  }
  const { object } = answered(await send(fixture, MERGE, { data: { k: 'ours' } }))
  t.same(object['data'], { k: 'ours', l: 'theirs' })
})

t.test('a version in the patch is a condition', async (t) => {
  const { fixture, a } = await withA()
  const at = (resourceVersion: string | undefined) => ({ metadata: { resourceVersion }, data: { k: '1' } })
  t.match(await refusal(send(fixture, MERGE, at('1'))), { code: 409, reason: 'Conflict' })
  t.equal((await send(fixture, MERGE, at(a.metadata?.resourceVersion))).status, 200)
})

t.test('a dry run stores nothing', async (t) => {
  const { fixture, a } = await withA()
  t.match(answered(await send(fixture, MERGE, { data: { k: '1' } }, '?dryRun=All')).object, { data: { k: '1' } })
  t.same(await fixture.stored(A), a)
  t.equal((await apply(new EndpointFixture(), {}, '&dryRun=All')).status, 201)
})

t.test('apply creates what is not there, for who may create', async (t) => {
  const fixture = new EndpointFixture()
  fixture.forbiddenVerbs.add('create')
  t.match(await refusal(apply(fixture, { data: { k: '1' } })), { code: 403 })
  t.equal(await fixture.isStored(A), false)
  fixture.forbiddenVerbs.clear()
  const { status, object } = answered(await apply(fixture, { data: { k: '1' } }))
  t.equal(status, 201)
  t.match(object.metadata?.managedFields, [{ manager: 'm', operation: 'Apply', fieldsV1: { 'f:data': { 'f:k': {} } } }])
  t.equal((await apply(fixture, { data: { k: '1' } })).status, 200)
})

t.test('apply of what others own is a conflict, unless it is forced', async (t) => {
  const { fixture } = await withA()
  t.match(await refusal(apply(fixture, { data: { k: 'mine' } })), {
    code: 409,
    details: { causes: [{ field: '.data.k' }] },
  })
  const { object } = answered(await apply(fixture, { data: { k: 'mine' } }, '&force=true'))
  t.same(object['data'], { k: 'mine', l: '0' })
})

t.test('apply needs a manager, and force is for apply alone', async (t) => {
  const { fixture } = await withA()
  t.match(await refusal(send(fixture, APPLY, {})), { code: 422, details: { causes: [{ field: 'fieldManager' }] } })
  t.match(await refusal(send(fixture, MERGE, {}, '?force=true')), {
    code: 422,
    details: { causes: [{ field: 'force' }] },
  })
})

t.test('an applied configuration is of the path, whatever else it says', async (t) => {
  const { fixture } = await withA()
  t.match(await refusal(apply(fixture, { metadata: { name: 'b' } })), { code: 400, message: /name/ })
  t.match(await refusal(apply(fixture, { metadata: { name: 'a', namespace: 'other' } })), {
    code: 400,
    message: /namespace/,
  })
  t.match(await refusal(apply(fixture, { kind: 'Secret' })), { code: 400 })
  t.equal((await apply(fixture, { metadata: {} })).status, 200, 'of what exists the name need not be said')
  t.match(await refusal(apply(new EndpointFixture(), { metadata: {} })), { code: 400 }, 'of what does not it must')
  t.match(await refusal(apply(new EndpointFixture(), { metadata: { name: 'a', uid: 'u' } })), { code: 409 })
})

t.test('a namespace in the configuration of what is in none is dropped, as by every other write', async (t) => {
  const fixture = new EndpointFixture()
  const body = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n', namespace: 'default' } }
  const node = fixture.worker('PATCH', '/api/v1/nodes/n?fieldManager=m', { contentType: APPLY, body })
  const { status, object } = answered(await patch(node))
  t.equal(status, 201)
  t.equal(object.metadata?.namespace, undefined)
})

t.test('a configuration may be YAML or JSON; what is neither, or no object, is a bad request', async (t) => {
  const { fixture } = await withA()
  const yaml = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {m: "1"}\n'
  t.match(answered(await send(fixture, APPLY, yaml, '?fieldManager=m')).object, { data: { m: '1' } })
  for (const body of ['a: [', '{', '[]', '3', ''])
    t.match(await refusal(send(fixture, APPLY, body, '?fieldManager=m')), { code: 400 }, body)
  const twice = await send(fixture, APPLY, `${yaml}data: {m: "1"}\n`, '?fieldManager=m').catch((error: Error) => error)
  t.match(twice, { warnings: [/data/] }, 'a key that is given twice is warned of')
})

t.test('a subresource is never the beginning of an object', async (t) => {
  const fixture = new EndpointFixture()
  const body = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } }
  const status = fixture.worker('PATCH', '/api/v1/nodes/n/status?fieldManager=m', { contentType: APPLY, body })
  t.match(await refusal(patch(status)), { code: 404 })
})

t.test('a request that was given up stops before it writes', async (t) => {
  const { fixture, a } = await withA()
  const signal = new Cancellation()
  fixture.kv.interfere = () => signal.abort(new Error('gone'))
  t.match(await refusal(send(fixture, MERGE, { data: { k: 'x' } }, '', { signal })), { code: 504 })
  t.same(await fixture.stored(A), a)
})
