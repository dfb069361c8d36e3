import t from 'tap'
import type { Json, JsonObject, KubeObject } from '#keelson/api/object.js'
import { StatusError } from '#keelson/api/status.js'
import { ConvertedCache } from '#keelson/apiextensions/conversion/converted-cache.js'
import {
  type ConversionCall,
  WebhookConverter,
  type WebhookConverterOptions,
} from '#keelson/apiextensions/conversion/webhook-converter.js'
import { FakeClock } from '../../support/fake-clock.js'

const V1 = 'example.com/v1'
const V2 = 'example.com/v2'

interface Review extends JsonObject {
  request: { uid: string; desiredAPIVersion: string; objects: JsonObject[] }
}

const widget = (name: string, more: object = {}): KubeObject => ({
  apiVersion: V1,
  kind: 'Widget',
  metadata: { name, namespace: 'ns', uid: `uid-${name}`, resourceVersion: '7', labels: { a: '1' } },
  spec: { size: 3 },
  ...more,
})

const renamed = (object: JsonObject, apiVersion: string): JsonObject => ({ ...object, apiVersion })

/** A converter whose webhook answers as told; `asked` are the reviews that it was sent. */
function converterOf(answer: (review: Review) => Json | undefined, given: Partial<WebhookConverterOptions> = {}) {
  const asked: Review[] = []
  const ended: unknown[] = []
  const converter = new WebhookConverter({
    clientConfig: { url: 'https://127.0.0.1/convert' },
    reviewVersion: 'v1',
    definitionKey: 'd/1',
    post: async ({ body }: ConversionCall) => {
      const review = JSON.parse(body) as Review
      asked.push(review)
      return Buffer.from(
        JSON.stringify(answer(review) ?? success(review, (o) => renamed(o, review.request.desiredAPIVersion))),
      )
    },
    prune: () => undefined,
    cache: new ConvertedCache(),
    ended: (from, to, _ms, failure) => void ended.push([from, to, failure ?? 'well']),
    clock: new FakeClock(),
    ...given,
  })
  return { converter, asked, ended }
}

const success = ({ request: { uid, objects } }: Review, convert: (object: JsonObject) => Json): Json => ({
  kind: 'ConversionReview',
  apiVersion: 'apiextensions.k8s.io/v1',
  response: { uid, result: { status: 'Success' }, convertedObjects: objects.map(convert) },
})

t.test('objects are sent in one review, without their resourceVersion, and come back in order', async (t) => {
  const { converter, asked, ended } = converterOf(() => undefined)
  const there = { ...widget('there'), apiVersion: V2 }
  const converted = await converter.convert([widget('a'), there, widget('b')], V2)
  t.same(
    converted.map(({ apiVersion, metadata }) => [apiVersion, metadata?.name, metadata?.resourceVersion]),
    [
      [V2, 'a', '7'],
      [V2, 'there', '7'],
      [V2, 'b', '7'],
    ],
  )
  t.equal(converted[1], there, 'what is in the version already is not touched')
  t.equal(asked.length, 1)
  t.match(asked[0], {
    kind: 'ConversionReview',
    apiVersion: 'apiextensions.k8s.io/v1',
    request: { desiredAPIVersion: V2 },
  })
  t.same(
    asked[0]!.request.objects.map((o) => (o['metadata'] as JsonObject)['resourceVersion']),
    [undefined, undefined],
  )
  t.same(ended, [[V1, V2, 'well']])
})

t.test('a list is split into reviews of a bounded size', async (t) => {
  const { converter, asked } = converterOf(() => undefined)
  const many = Array.from({ length: 300 }, (_, i) => widget(`w${i}`))
  const converted = await converter.convert(many, V2)
  t.same(
    converted.map(({ metadata }) => metadata?.name),
    many.map(({ metadata }) => metadata?.name),
  )
  t.ok(asked.length >= 3 && asked.every(({ request }) => request.objects.length <= 128))
  const wide = Array.from({ length: 4 }, (_, i) => widget(`wide${i}`, { spec: { text: 'x'.repeat(600_000) } }))
  asked.length = 0
  await converter.convert(wide, V2)
  t.equal(asked.length, 4, 'half a megabyte and more goes alone')
})

t.test('of the metadata a webhook changes labels and annotations alone', async (t) => {
  const { converter } = converterOf((review) =>
    success(review, (object) => ({
      ...renamed(object, V2),
      metadata: {
        ...(object['metadata'] as JsonObject),
        labels: { b: '2' },
        annotations: { c: '3' },
        finalizers: ['example.com/no'],
        generateName: 'no',
        resourceVersion: '99',
      },
    })),
  )
  const [converted] = await converter.convert([widget('a')], V2)
  t.same(converted?.metadata, {
    name: 'a',
    namespace: 'ns',
    uid: 'uid-a',
    resourceVersion: '7',
    labels: { b: '2' },
    annotations: { c: '3' },
  })
})

t.test('what is no answer is a failure without a reason, told by its kind', async (t) => {
  const one = (change: (object: JsonObject) => Json) => (review: Review) => success(review, change)
  const meta = (more: JsonObject) => (object: JsonObject) => ({
    ...renamed(object, V2),
    metadata: { ...(object['metadata'] as JsonObject), ...more },
  })
  const response = (more: JsonObject) => (review: Review) => {
    const whole = success(review, (o) => renamed(o, V2)) as JsonObject
    return { ...whole, response: { ...(whole['response'] as JsonObject), ...more } }
  }
  const cases: [string, (review: Review) => Json, RegExp, string][] = [
    ['another review', response({ uid: 'other' }), /expected response.uid=/, 'malformed_response'],
    [
      'no response',
      () => ({ kind: 'ConversionReview', apiVersion: 'apiextensions.k8s.io/v1' }),
      /no response/,
      'malformed',
    ],
    [
      'another kind',
      (r) => ({ ...(success(r, (o) => o) as JsonObject), kind: 'Other' }),
      /expected webhook response/,
      'malformed',
    ],
    ['no object', () => [], /no object/, 'malformed'],
    ['a failure', response({ result: { status: 'Failure', message: 'cannot' } }), /failed: cannot$/, 'malformed'],
    ['no result', response({ result: null }), /status was ''/, 'malformed'],
    ['too few', response({ convertedObjects: [] }), /returned 0 objects, expected 1/, 'partial_response'],
    ['no list', response({ convertedObjects: 'x' }), /no list/, 'malformed'],
    ['another version', one((o) => o), /invalid groupVersion/, 'invalid_converted_object'],
    ['another kind of object', one((o) => ({ ...renamed(o, V2), kind: 'Other' })), /invalid kind/, 'invalid_converted'],
    ['no object in it', one(() => 'text'), /it is no object/, 'invalid_converted'],
    ['another name', one(meta({ name: 'b' })), /must have the same name: a != b/, 'invalid_converted'],
    ['another namespace', one(meta({ namespace: 'b' })), /must have the same namespace/, 'invalid_converted'],
    ['another uid', one(meta({ uid: 'b' })), /must have the same UID/, 'invalid_converted'],
    [
      'a label that is none',
      one(meta({ labels: { 'no label': 'x' } })),
      /returned invalid metadata/,
      'invalid_converted',
    ],
    ['a label that is no text', one(meta({ labels: { a: 1 } })), /must be a string/, 'invalid_converted'],
    ['annotations that are no object', one(meta({ annotations: [] })), /annotations is no object/, 'invalid_converted'],
  ]
  for (const [what, answer, message, failure] of cases) {
    const { converter, ended } = converterOf(answer)
    const error = await converter.convert([widget('a')], V2).then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
    t.ok(error instanceof StatusError, what)
    const { status } = error as StatusError
    t.same([status.code, status.reason], [500, undefined], what)
    t.match(status.message, /^conversion webhook for example.com\/v1, Kind=Widget /, what)
    t.match(status.message, message, what)
    t.match(ended, [[V1, V2, new RegExp(failure)]], what)
  }
})

t.test('a webhook that does not answer, and one that speaks no version of the review', async (t) => {
  const refused = converterOf(() => undefined, { post: () => Promise.reject(new Error('connection refused')) })
  await t.rejects(refused.converter.convert([widget('a')], V2), /failed: connection refused/)
  t.same(refused.ended, [[V1, V2, 'conversion_webhook_call_failure']])
  const silent = converterOf(() => undefined, { reviewVersion: undefined })
  await t.rejects(silent.converter.convert([widget('a')], V2), /no supported conversion review versions/)
})

t.test('in v1beta1 neither the uid nor the kind of the answer is looked at', async (t) => {
  const answer = (review: Review): Json => {
    const { response } = success(review, (o) => renamed(o, V2)) as { response: JsonObject }
    return { response: { ...response, uid: 'other' } }
  }
  const { converter, asked } = converterOf(answer, { reviewVersion: 'v1beta1' })
  const [converted] = await converter.convert([widget('a')], V2)
  t.equal(converted?.apiVersion, V2)
  t.equal(asked[0]!['apiVersion'], 'apiextensions.k8s.io/v1beta1')
})

t.test('an object without content is never sent', async (t) => {
  const { converter, asked } = converterOf(() => undefined)
  t.same(await converter.convert([{ apiVersion: V1, kind: 'Widget' }], V2), [{ apiVersion: V2, kind: 'Widget' }])
  t.equal(asked.length, 0)
})

t.test('a state that was read is converted once, whatever its resourceVersion', async (t) => {
  const { converter, asked } = converterOf(() => undefined)
  const [first] = await converter.convertStored([widget('a')], V2)
  first!['spec'] = 'changed by who got it'
  const later = widget('a')
  later.metadata!.resourceVersion = '8'
  const [second] = await converter.convertStored([later], V2)
  t.match(second, { apiVersion: V2, metadata: { resourceVersion: '8' }, spec: { size: 3 } })
  t.equal(asked.length, 1)
  await converter.convertStored([widget('a', { spec: { size: 4 } })], V2)
  t.equal(asked.length, 2, 'another state is another question')
  await converter.convert([widget('a')], V2)
  t.equal(asked.length, 3, 'a write always asks')
})

t.test('what is kept is bounded', async (t) => {
  const cache = new ConvertedCache(1000)
  for (let i = 0; i < 50; i++) cache.set(`k${i}`, widget(`w${i}`), 100)
  t.ok(cache.bytes <= 1000)
  t.equal(cache.get('k0'), undefined)
  t.equal(cache.get('k49')?.metadata?.name, 'w49')
  cache.set('large', widget('large'), 999)
  t.equal(cache.get('large'), undefined, 'one object does not push out all others')
})
