import t from 'tap'
import type { JsonObject } from '#keelson/api/object.js'
import { mergedSwagger, type SwaggerDocument } from '#keelson/api/openapi/openapi-v2-merge.js'

const ref = (name: string) => ({ $ref: `#/definitions/${name}` })
const own: SwaggerDocument = {
  paths: { '/api/v1/pods': { get: { schema: ref('Pod') } } },
  definitions: { Pod: { type: 'object' }, Meta: { type: 'object' }, Time: { type: 'string' } },
}
const other = (document: JsonObject) => ({ prefixes: ['/apis/weather/v1/'], document })

t.test('the paths of its versions are taken, and what they reach; other paths and definitions are not', async (t) => {
  const merged = mergedSwagger(
    own,
    other({
      paths: {
        '/apis/weather/v1/forecasts': { get: { schema: ref('Forecast') } },
        '/apis/weather/v2/forecasts': { get: { schema: ref('Unseen') } },
        '/api/v1/pods': { get: {} },
      },
      definitions: {
        Forecast: { properties: { time: ref('Time'), wind: ref('Wind') } },
        Wind: { type: 'string' },
        Time: { type: 'string' },
        Unseen: {},
      },
    }),
  )
  t.same(Object.keys(merged.paths), ['/api/v1/pods', '/apis/weather/v1/forecasts'])
  t.same(merged.paths['/api/v1/pods'], own.paths['/api/v1/pods'])
  t.same(Object.keys(merged.definitions), ['Forecast', 'Meta', 'Pod', 'Time', 'Wind'])
  t.same(Object.keys(own.definitions).length, 3, 'the own document is as it was')
})

t.test('a name that another definition has is changed, and every reference to it', async (t) => {
  const document = {
    paths: { '/apis/weather/v1/forecasts': { get: { schema: ref('Forecast') } } },
    definitions: { Forecast: { properties: { meta: ref('Meta') } }, Meta: { type: 'integer', items: ref('Meta') } },
  }
  const once = mergedSwagger(own, other(document))
  t.same(once.definitions['Meta'], { type: 'object' })
  t.same(once.definitions['Meta_v2'], { type: 'integer', items: ref('Meta_v2') })
  t.same(once.definitions['Forecast'], { properties: { meta: ref('Meta_v2') } })
  const third = {
    paths: { '/apis/sea/v1/waves': { get: { schema: ref('Meta') } } },
    definitions: { Meta: { type: 'number' } },
  }
  const twice = mergedSwagger(once, { prefixes: ['/apis/sea/v1/'], document: third })
  t.same(twice.definitions['Meta_v3'], { type: 'number' })
  t.same(twice.paths['/apis/sea/v1/waves'], { get: { schema: ref('Meta_v3') } })
})

t.test('documents that are none, or too deep, or go round in circles, do no harm', async (t) => {
  t.same(mergedSwagger(own, other({ paths: [], definitions: 'x' })), own)
  const circle = {
    paths: { '/apis/weather/v1/a': ref('A') },
    definitions: { A: { properties: { b: ref('B') } }, B: { properties: { a: ref('A') } } },
  }
  t.same(Object.keys(mergedSwagger(own, other(circle)).definitions), ['A', 'B', 'Meta', 'Pod', 'Time'])
  let deep: JsonObject = {}
  for (let i = 0; i < 5_000; i++) deep = { deep }
  t.throws(() => mergedSwagger(own, other({ paths: { '/apis/weather/v1/a': deep } })), { code: 'SwaggerError' })
})
