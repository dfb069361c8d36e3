import t from 'tap'
import { parseExpression } from '#keelson/api/cel/parser.js'
import { CelSyntaxError, type Expression } from '#keelson/api/cel/syntax.js'

t.test('expressions that no walk could go down are refused, never a full stack', async (t) => {
  const hostile = {
    names: `a${'.b'.repeat(40_000)}`,
    'names of a type': `a${'.b'.repeat(40_000)}{}`,
    indexes: `a${'[0]'.repeat(30_000)}`,
    calls: `a${'.f()'.repeat(20_000)}`,
    sums: `1${'+1'.repeat(40_000)}`,
    comparisons: `1${'<1'.repeat(40_000)}`,
    signs: `${'-'.repeat(50_000)}1`,
    parentheses: `${'('.repeat(40_000)}1${')'.repeat(40_000)}`,
    lists: `${'['.repeat(40_000)}${']'.repeat(40_000)}`,
    choices: `${'a?b:'.repeat(20_000)}c`,
    'chains within parentheses': `${'('.repeat(200)}a${`${'.b'.repeat(240)})`.repeat(200)}`,
    digits: '9'.repeat(99_000),
    'too long': `'${'x'.repeat(100_000)}'`,
  }
  for (const [what, source] of Object.entries(hostile)) t.throws(() => parseExpression(source), CelSyntaxError, what)
})

t.test('many conditions make a tree that is not high', async (t) => {
  const height = (tree: Expression): number =>
    tree.op === 'binary' ? 1 + Math.max(height(tree.left), height(tree.right)) : 1
  for (const operator of ['&&', '||']) {
    const tree = parseExpression(Array.from({ length: 5_000 }, (_, i) => `a${i}`).join(operator))
    t.ok(height(tree) < 20, `${height(tree)}`)
  }
  const texts = (tree: Expression): string =>
    tree.op === 'binary'
      ? `(${texts(tree.left)}${tree.operator}${texts(tree.right)})`
      : tree.op === 'name'
        ? tree.name
        : ''
  t.equal(texts(parseExpression('a && b || c && d')), '((a&&b)||(c&&d))')
  t.equal(texts(parseExpression('a || b || c')), '(a||(b||c))')
})

t.test('what people write stays far within the limits', async (t) => {
  t.ok(parseExpression(`a${'.b'.repeat(100)} == ${Array.from({ length: 100 }, () => '1').join(' + ')}`))
})
