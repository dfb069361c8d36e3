import t from 'tap'
import { goJson } from '#keelson/api/managed-fields/go-json.js'

t.test('members are sorted, absent ones left out, integers whole', async (t) => {
  t.equal(
    goJson({ b: [1, { d: null, c: true }], a: 9007199254740993n, x: undefined } as never),
    '{"a":9007199254740993,"b":[1,{"c":true,"d":null}]}',
  )
  t.equal(goJson({}), '{}')
  t.equal(goJson([]), '[]')
  t.equal(goJson({ x: undefined } as never), '{}')
})

t.test('every character is written as JSON writes it, as a value and as a name', async (t) => {
  const wrong: number[] = []
  for (let code = 0; code < 0x10000; code++) {
    const text = `a${String.fromCharCode(code)}`
    if (goJson(text) !== JSON.stringify(text) || goJson({ [text]: 0 }) !== `{${JSON.stringify(text)}:0}`)
      wrong.push(code)
  }
  t.same(wrong, [])
})
