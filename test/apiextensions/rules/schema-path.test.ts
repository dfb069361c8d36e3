import t from 'tap'
import { resolveFieldPath } from '#keelson/apiextensions/rules/schema-path.js'
import type { JsonSchema } from '#keelson/apiextensions/schema/json-schema.js'

const text: JsonSchema = { type: 'string' }
const schema: JsonSchema = {
  type: 'object',
  properties: {
    a: { type: 'object', properties: { 'b.c': text, "it's": text } },
    map: { type: 'object', additionalProperties: { type: 'object', properties: { v: text } } },
    any: { type: 'object', additionalProperties: true },
    list: { type: 'array', items: { type: 'object', properties: { v: text } } },
  },
}

t.test('paths lead through properties and entries of maps, and are written as causes write them', async (t) => {
  const written = (path: string): string | undefined => resolveFieldPath(path, schema)?.path.toString()
  t.equal(written('.a'), 'a')
  t.equal(written(".a['b.c']"), 'a.b.c')
  t.equal(written(".a['it\\'s']"), "a.it's")
  t.equal(written('.map.key.v'), 'map[key].v')
  t.equal(written(".map['k.y'].v"), 'map[k.y].v')
  t.equal(written('.any.x'), 'any[x]')
})

t.test('what leads nowhere is no path', async (t) => {
  for (const path of [
    'a',
    '.',
    '.b',
    '.a.',
    '.a[b]',
    ".a['b.c'",
    '.list[0]',
    '.list.v',
    '.a.b.c',
    ".a['\\q']",
    '.any.x.y',
  ])
    t.equal(resolveFieldPath(path, schema), undefined, path)
  t.equal(resolveFieldPath(".a['b.c']", schema, false), undefined, 'brackets are not for everybody')
})
