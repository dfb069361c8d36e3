import t from 'tap'
import { parseYaml, printYaml } from '#keelson/api/yaml/yaml.js'

t.test('scalars mean what they mean to Kubernetes', (t) => {
  const text = [
    ...['a: y', 'b: 0777', 'c: 9007199254740993', 'd: 1.5', 'e: 2020-01-01', 'f: ~', 'g: "1"', '1: x', 'true: z'],
    ...[
      'h: 1_000',
      'i: 08',
      'j: 0x1F',
      'k: 1e3',
      'l: 12:30',
      'm: off',
      'p: -9223372036854775808',
      'o: 18446744073709551616',
    ],
  ].join('\n')
  t.same(parseYaml(text).value, {
    ...{ a: true, b: 511, c: 9007199254740993n, d: 1.5, e: '2020-01-01', f: null, g: '1', '1': 'x', true: 'z' },
    ...{ h: 1000, i: 8, j: 31, k: 1000, l: '12:30', m: false, p: -9223372036854775808n, o: 2 ** 64 },
  })
  t.end()
})

t.test('a key given twice is reported, and the last one counts', (t) => {
  const { value, strictErrors } = parseYaml('a: 1\nb:\n  c: 1\n  c: 2\n')
  t.same(value, { a: 1, b: { c: 2 } })
  t.match(strictErrors, [/^line 4: /])
  t.end()
})

t.test('JSON is YAML, aliases are copied, of several documents the first is read', (t) => {
  t.same(parseYaml('{"a":[1,true,null,"x"]}').value, { a: [1, true, null, 'x'] })
  const { value } = parseYaml('a: &x {b: 1}\nc: *x\nd:\n  <<: *x\n')
  t.same(value, { a: { b: 1 }, c: { b: 1 }, d: { b: 1 } })
  const tree = value as { a: object; c: object }
  t.not(tree.a, tree.c)
  t.same(parseYaml('---\na: 1\n---\nb: 2\n').value, { a: 1 })
  t.equal(parseYaml('').value, null)
  t.end()
})

t.test('broken and hostile text is refused', (t) => {
  for (const bad of ['a: [1,\n b', '\tx: 1', 'a: *nothing', '['.repeat(3000)])
    t.throws(() => parseYaml(bad), { name: 'YamlError' }, bad.slice(0, 20))
  const bomb = ['a: &a [x,x,x,x,x,x,x,x,x]']
  for (let i = 0; i < 9; i++) {
    const name = String.fromCharCode(98 + i)
    const last = String.fromCharCode(97 + i)
    bomb.push(`${name}: &${name} [${Array(9).fill(`*${last}`).join(',')}]`)
  }
  t.throws(() => parseYaml(bomb.join('\n')), /excessive aliasing/)
  t.equal(Object.getPrototypeOf(parseYaml('__proto__: {a: 1}').value), Object.prototype)
  t.end()
})

t.test('what is printed reads back the same', (t) => {
  const value = {
    z: [{ b: 1, a: 'y' }],
    a: '1',
    c: 9007199254740993n,
    d: null,
    e: '',
    f: {},
    g: [],
    h: 1.5,
    i: 'x\ny\n',
    j: '0o7',
    k: '12:30',
  }
  const text = printYaml(value)
  t.same(parseYaml(text).value, value)
  t.match(text, /^a: "1"\nc: 9007199254740993\n/)
  t.match(text, /\nz:\n- a: "y"\n {2}b: 1\n$/)
  t.end()
})

t.test('large numbers are printed as what a reader takes for a number, and zero has no sign', (t) => {
  const text = printYaml({ a: 1e21, b: -1e300, c: 1e20, d: -0, e: 1e-7 })
  t.notMatch(text, /!!|"/)
  t.match(text, /\nd: 0\n/)
  t.same(parseYaml(text).value, { a: 1e21, b: -1e300, c: 1e20, d: 0, e: 1e-7 })
  t.end()
})
