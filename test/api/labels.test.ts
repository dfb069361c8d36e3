import t from 'tap'
import { parseFieldSelector } from '#keelson/api/fields.js'
import { parseLabelSelector } from '#keelson/api/label-parser.js'
import { labelSelectorAsSelector, labelsAsSelector } from '#keelson/api/label-selector-object.js'
import { MapAttributes } from '#keelson/api/selector.js'

const matches = (selector: string, labels: Record<string, string>): boolean =>
  parseLabelSelector(selector).matches(new MapAttributes(labels))

t.test('every operator of label selectors', (t) => {
  const labels = { app: 'web', tier: 'front', size: '10', empty: '' }
  for (const [selector, expected] of [
    ['', true],
    ['app=web', true],
    ['app==web', true],
    ['app = web , tier = front', true],
    ['app!=web', false],
    ['none!=web', true],
    ['app in (web,db)', true],
    ['app in (db)', false],
    ['app notin (db)', true],
    ['none notin (db)', true],
    ['app', true],
    ['none', false],
    ['!none', true],
    ['!app', false],
    ['size>9', true],
    ['size>10', false],
    ['size<11', true],
    ['app>1', false],
    ['none<1', false],
    ['empty=', true],
    ['empty in (,x)', true],
    ['empty in ()', true],
    ['app=', false],
    ['in=1', false],
    ['app=web,tier', true],
  ] as const)
    t.equal(matches(selector, labels), expected, selector)
  t.end()
})

t.test('selectors that cannot be read are refused', (t) => {
  for (const selector of [
    '=x',
    'a/b/c=d',
    ',',
    'a,',
    'a,,b',
    'a=b=c',
    'a in',
    'a in b',
    'a in (b',
    'a in (b c)',
    'a b',
    '!',
    '!a=b',
    '!!a',
    'a>x',
    'a>',
    'a>9223372036854775808',
    'a=-',
    `a=${'x'.repeat(64)}`,
    `${'x'.repeat(64)}=a`,
    'a in (b))',
    '(a)',
    'a=b c',
    '-a',
    'a=ü',
  ])
    t.throws(() => parseLabelSelector(selector), { name: 'SelectorError' }, selector)
  t.throws(() => parseLabelSelector('=x'), /found '=', expected: !, identifier, or 'end of string'/)
  t.end()
})

t.test('a selector tells what an index can use, and prints itself sorted', (t) => {
  const selector = parseLabelSelector('b in (x),a!=1,c notin (z,y),d')
  t.equal(selector.requiresExactMatch('b'), 'x')
  t.equal(selector.requiresExactMatch('a'), undefined)
  t.equal(selector.toString(), 'a!=1,b in (x),c notin (y,z),d')
  t.same(parseLabelSelector(selector.toString()).toString(), selector.toString())
  t.equal(parseLabelSelector('').empty(), true)
  t.end()
})

t.test('LabelSelector objects: absent selects nothing, empty everything', (t) => {
  const labels = new MapAttributes({ app: 'web' })
  t.equal(labelSelectorAsSelector(undefined).matches(labels), false)
  t.equal(labelSelectorAsSelector({}).matches(labels), true)
  t.equal(labelSelectorAsSelector({ matchLabels: { app: 'web' } }).matches(labels), true)
  t.equal(
    labelSelectorAsSelector({ matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['web'] }] }).matches(labels),
    false,
  )
  t.equal(labelSelectorAsSelector({ matchExpressions: [{ key: 'x', operator: 'DoesNotExist' }] }).matches(labels), true)
  t.throws(() => labelSelectorAsSelector({ matchExpressions: [{ key: 'x', operator: 'Gt', values: ['1'] }] }))
  t.throws(() => labelSelectorAsSelector({ matchExpressions: [{ key: 'x', operator: 'In' }] }))
  t.equal(labelsAsSelector({ app: 'db' }).matches(labels), false)
  t.equal(labelsAsSelector({}).empty(), true)
  t.end()
})

t.test('field selectors', (t) => {
  const fields = new MapAttributes({ 'metadata.name': 'a', 'spec.x': 'b,c=d\\' })
  const selects = (text: string) => parseFieldSelector(text).matches(fields)
  t.equal(selects('metadata.name=a'), true)
  t.equal(selects('metadata.name==a,spec.node!=x'), true)
  t.equal(selects('metadata.name!=a'), false)
  t.equal(selects('spec.node='), true, 'a missing field is empty')
  t.equal(selects('spec.x=b\\,c\\=d\\\\'), true)
  t.equal(selects(''), true)
  t.equal(parseFieldSelector(',').empty(), true)
  t.equal(parseFieldSelector('a=1,b!=2').requiresExactMatch('a'), '1')
  t.equal(parseFieldSelector('a=1,b!=2').requiresExactMatch('b'), undefined)
  t.equal(parseFieldSelector('a=b\\,c').toString(), 'a=b\\,c')
  for (const bad of ['metadata.name', 'a=b=c', 'a=\\x', 'a=b\\'])
    t.throws(() => parseFieldSelector(bad), { name: 'SelectorError' }, bad)
  t.end()
})
