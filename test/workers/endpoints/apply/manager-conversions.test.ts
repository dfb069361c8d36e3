import t from 'tap'
import type { JsonObject, KubeObject } from '#keelson/api/object.js'
import type { ObjectConverter } from '#keelson/apiextensions/conversion/interface.js'
import { ManagerConversions } from '#keelson/workers/endpoints/apply/manager-conversions.js'
import { TypedError } from '#keelson/workers/endpoints/apply/typed-error.js'

/** Notes what it is asked; versions whose name ends in x cannot be made. */
function converterOf(): { converter: ObjectConverter; asked: string[] } {
  const asked: string[] = []
  const convert = async (objects: readonly KubeObject[], apiVersion: string): Promise<KubeObject[]> => {
    asked.push(`${objects[0]?.apiVersion}→${apiVersion}`)
    if (apiVersion.endsWith('x')) throw new Error('cannot')
    return objects.map((object) => ({ ...object, apiVersion }))
  }
  return { converter: { convert, convertStored: convert }, asked }
}

t.test('work is run again for each conversion it lacks, and asks for none twice', async (t) => {
  const { converter, asked } = converterOf()
  const conversions = new ManagerConversions(converter, 'g/v1')
  let runs = 0
  const versions = await conversions.run(() => {
    runs++
    const at = (apiVersion: string): JsonObject => conversions.convert({ apiVersion: 'g/v1', spec: {} }, apiVersion)
    return [at('g/v2'), at('g/v3'), at('g/v2')].map((object) => object['apiVersion'])
  })
  t.same(versions, ['g/v2', 'g/v3', 'g/v2'])
  t.equal(runs, 3)
  t.same(asked, ['g/v1→g/v2', 'g/v1→g/v3'])
})

t.test('an object that does not say its version is of the version of the endpoint', async (t) => {
  const { converter, asked } = converterOf()
  const conversions = new ManagerConversions(converter, 'g/v1')
  await conversions.run(() => conversions.convert({ spec: {} }, 'g/v2'))
  t.same(asked, ['g/v1→g/v2'])
})

t.test('what cannot be converted cannot be compared', async (t) => {
  const { converter, asked } = converterOf()
  const conversions = new ManagerConversions(converter, 'g/v1')
  const work = (): string => {
    try {
      conversions.convert({ spec: {} }, 'g/x')
    } catch (error) {
      if (error instanceof TypedError) return error.message
      throw error
    }
    return ''
  }
  t.equal(await conversions.run(work), 'cannot')
  t.equal(asked.length, 1)
})

t.test('works that run side by side find their own conversions alone', async (t) => {
  const { converter } = converterOf()
  const conversions = new ManagerConversions(converter, 'g/v1')
  const run = (n: number) => conversions.run(() => conversions.convert({ spec: { n } }, 'g/v2')['spec'])
  t.same(await Promise.all([run(1), run(2), run(3)]), [{ n: 1 }, { n: 2 }, { n: 3 }])
})

t.test('work that never has enough ends', async (t) => {
  const { converter } = converterOf()
  const conversions = new ManagerConversions(converter, 'g/v1')
  let n = 0
  await t.rejects(
    conversions.run(() => conversions.convert({ spec: { n: n++ } }, 'g/v2')),
    TypedError,
  )
})

t.test('an error of the work is the work’s', async (t) => {
  const { converter } = converterOf()
  const conversions = new ManagerConversions(converter, 'g/v1')
  const work = (): never => {
    throw new RangeError('mine')
  }
  await t.rejects(conversions.run(work), RangeError)
})
