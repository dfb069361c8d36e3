import { RE2JS } from 're2js'
import t from 'tap'
import { estimatedProgramSize, isTooLarge } from '#keelson/api/pattern-size.js'

const PATTERNS = [
  '',
  'abc',
  '^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$',
  '^(?:[a-z]{1,63}\\.){0,15}[a-z]{0,253}$',
  'x{1000}x{1000}',
  '(x{30}){30}',
  '(?P<name>x{10}|y{2,}){50}',
  '(?i)(?s:.{100})+',
  '[]x]{500}[^]]{5}',
  '[[:alpha:]\\]]{500}',
  '[[:alpha:](]{300}(x{300})',
  '[[x]{700}',
  '\\Qx{1000}(\\E{200}',
  '\\x{263a}{9}\\p{Greek}{900}\\pL{20}',
  'x{0,1000}?y*?',
  'a{,5}{2}',
  '\\[x{800}',
  '((((x{5}){5}){5}){5})',
  '(|x){1000}',
  '(?:x?){1000}',
  '(?:a|b|c|dd){200}',
]

t.test('an estimate is not far from what the compiler makes', async (t) => {
  for (const source of PATTERNS) {
    const size = RE2JS.compile(source).programSize()
    const estimate = estimatedProgramSize(source)
    t.ok(estimate * 2 >= size, `${source}: ${estimate}, not ${size}`)
    t.ok(estimate <= 4 * size + 20, `${source}: ${estimate}, not ${size}`)
  }
})

t.test('what repeats too much is told without compiling it', async (t) => {
  t.ok(isTooLarge('x{1000}'.repeat(580)))
  t.ok(isTooLarge(`(${'x'.repeat(200)}){1000}`))
  t.ok(isTooLarge('('.repeat(500).concat('x', '){1000}'.repeat(500))))
  t.notOk(isTooLarge('^[a-z0-9]([-a-z0-9.]{0,253}[a-z0-9])?$'))
})

t.test('a source is read once', async (t) => {
  for (const part of ['x{10}', '(', '(?<', '[', '[[:', '{1', '\\Q', '\\p{', ')'])
    t.ok(estimatedProgramSize(part.repeat(200_000)) > 0, part)
})
