import t from 'tap'
import { parseJson } from '#keelson/api/json/parse.js'
import { patchStrictErrors } from '#keelson/workers/endpoints/patch/strict-errors.js'

const errors = (text: string, isJsonPatch = false): string[] => {
  const bytes = Buffer.from(text)
  return patchStrictErrors(bytes, parseJson(bytes), isJsonPatch)
}

t.test('keys that are given twice are named, with their path', async (t) => {
  t.same(errors('{"a":{"b":1,"c":2}}'), [])
  t.same(errors('{"a":{"b":1,"b":2},"l":[{"x":1,"x":2}]}'), ['duplicate field "a.b"', 'duplicate field "l[0].x"'])
  t.same(errors('{"op":1,"unknown":2}'), [], 'a merge patch may hold any field')
})

t.test('members of operations that mean nothing are named', async (t) => {
  t.same(errors('[{"op":"add","path":"/a","value":{"x":1}}]', true), [])
  t.same(errors('[{"op":"add","why":1},{"op":"add","op":"test"}]', true), [
    'json patch duplicate field "[1].op"',
    'json patch unknown field "[0].why"',
  ])
  t.same(errors('[null, 5]', true), [])
  t.same(errors('{}', true), [])
})
