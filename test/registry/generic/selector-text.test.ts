import t from 'tap'
import { selectorStructText, selectorText } from '#keelson/registry/generic/selector-text.js'

t.test('a selector in one line, by key', async (t) => {
  t.equal(selectorText(undefined), '<none>')
  t.equal(selectorText(null), '<none>')
  t.equal(selectorText({}), '<none>')
  t.equal(
    selectorText({
      matchLabels: { z: '1', a: '2' },
      matchExpressions: [
        { key: 'm', operator: 'In', values: ['y', 'x'] },
        { key: 'b', operator: 'NotIn', values: ['v'] },
        { key: 'c', operator: 'Exists' },
        { key: 'd', operator: 'DoesNotExist' },
      ],
    }),
    'a=2,b notin (v),c,!d,m in (x,y),z=1',
  )
  t.equal(selectorText({ matchExpressions: [{ key: 'a', operator: 'constructor' }] }), '<error>')
})

t.test('a selector as Go prints it', async (t) => {
  t.equal(
    selectorStructText({
      matchLabels: { b: '1', a: '2' },
      matchExpressions: [{ key: 'k', operator: 'In', values: ['x', 'y'] }],
    }),
    '&LabelSelector{MatchLabels:map[string]string{a: 2,b: 1,},MatchExpressions:[]LabelSelectorRequirement{LabelSelectorRequirement{Key:k,Operator:In,Values:[x y],},},}',
  )
})
