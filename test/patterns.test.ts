import path from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { fuzzSeed, Random } from './support/fuzz.js'
import { attacksOn, isSlow } from './support/pattern-attack.js'

interface Pattern {
  readonly place: string
  /** Undefined when it is built from data. */
  readonly source?: string
  readonly flags?: string
}

const { patternsOf, patternsIn } = (await import(pathToFileURL(path.resolve('scripts/patterns.mjs')).href)) as {
  patternsOf: () => Pattern[]
  patternsIn: (file: string, text: string) => Pattern[]
}

function slowAttack({ source = '', flags = '' }: Pattern): string | undefined {
  const random = new Random(fuzzSeed())
  const pattern = new RegExp(source, flags)
  const attack = attacksOn(source, random).find((one) => isSlow(pattern, one))
  return attack === undefined ? undefined : JSON.stringify(attack(40))
}

t.test('the attack hurts the expressions that once stood here', async (t) => {
  const once = [
    /^iqn\.\d{4}-\d{2}\.([A-Za-z\d-]+[A-Za-z\d]?)(\.[A-Za-z\d-]+[A-Za-z\d]?)*([:][^,\s]*)?$/,
    /([^\s"'<>/=]+)(\s*=\s*)("[^"]*"|'[^']*'|[^\s"'>]+)/g,
    /^(.+?)\['(.*)'\]$/s,
    /^([+-]?)(\d*)(?:\.(\d*))?([eEinumkKMGTP]*(?:[+-]?\d+)?)$/,
    /^(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+$/,
    /-----BEGIN ([^-\n]+)-----[\s\S]*?-----END \1-----/g,
    /\/+$/,
    /\s+$/,
    /^\s*(\d{1,5})\s*(?:([-+])\s*(\d{1,5}))?\s*$/,
  ]
  for (const { source, flags } of once) t.ok(slowAttack({ place: '', source, flags }), source)
})

t.test('expressions are found in literals and in calls', async (t) => {
  const found = patternsIn('x.ts', "const a = /b+/g\nconst c = new RegExp(a.source)\n'x'.split(/y/)")
  t.same(found, [
    { place: 'x.ts:1', source: 'b+', flags: 'g' },
    { place: 'x.ts:2' },
    { place: 'x.ts:3', source: 'y', flags: '' },
  ])
})

t.test('no expression of src takes more than linear time on texts made of its own pieces', async (t) => {
  const patterns = patternsOf()
  t.ok(patterns.length > 150, `${patterns.length} expressions`)
  for (const pattern of patterns) {
    if (pattern.source === undefined) t.fail(`${pattern.place} builds an expression from data`)
    else t.equal(slowAttack(pattern), undefined, `${pattern.place} ${pattern.source}`)
  }
})
