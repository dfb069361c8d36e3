import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import t from 'tap'
import { GATE_EFFECTS } from '#keelson/main/flags/compatibility-options.js'
import { foreignFlag, foreignFlagNames, refusedFlag } from '#keelson/main/flags/foreign-flags.js'
import { FLAGS } from '#keelson/main/flags/options.js'
import { KUBE_APISERVER_FLAGS } from './kube-apiserver-flags.js'

// docs/flags.md is made from the tables of flags (npm run generate). Here it is held against what the code does, in both directions.

const DOCUMENT = readFileSync('docs/flags.md', 'utf8')
const rows = (title: string): string[][] => {
  const section = DOCUMENT.split(/^## /m).find((part) => part.startsWith(title)) ?? ''
  return section
    .split('\n')
    .filter((line) => /^\| `/.test(line))
    .map((line) =>
      line
        .slice(2, -2)
        .split(/(?<!\\)\|/)
        .map((cell) => cell.trim()),
    )
}
const nameOf = (row: string[]): string => row[0]!.replaceAll('`', '').replace('--', '')
const ALWAYS = ['help', 'version']
const OWN = FLAGS.map(({ name }) => name)

t.test('every flag of kube-apiserver has one row, and what it says is what the code does', async (t) => {
  const theirs = rows('Flags of kube-apiserver')
  t.same(theirs.map(nameOf), [...KUBE_APISERVER_FLAGS].sort())
  for (const row of theirs) {
    const name = nameOf(row)
    const state =
      OWN.includes(name) || ALWAYS.includes(name)
        ? 'works'
        : refusedFlag(name) !== undefined
          ? 'refused'
          : foreignFlag(name) !== undefined
            ? 'taken'
            : 'unknown'
    t.equal(row[1], state, `--${name}`)
    t.ok((row[2] ?? '').length > 5, `--${name} has its reason or its meaning`)
  }
})

t.test('every flag that the code knows is in the document', async (t) => {
  const documented = new Set([...rows('Flags of kube-apiserver'), ...rows('Flags of this server')].map(nameOf))
  const former = new Set(
    [...DOCUMENT.split('## Flags of older versions')[1]!.matchAll(/`--([\w-]+)`/g)].map(([, name]) => name),
  )
  t.same(
    OWN.filter((name) => !documented.has(name)),
    [],
  )
  t.same(
    foreignFlagNames().filter((name) => !documented.has(name) && !former.has(name)),
    [],
  )
  t.same(
    rows('Flags of this server')
      .map(nameOf)
      .filter((name) => !OWN.includes(name)),
    [],
  )
  t.same(rows('Feature gates').map(nameOf), Object.keys(GATE_EFFECTS))
})

t.test('--help shows the flags that work, and no others', async (t) => {
  const { stdout, status } = spawnSync(process.execPath, ['bundle/main/index.js', '--help'], { encoding: 'utf8' })
  t.equal(status, 0)
  const shown = [...stdout.matchAll(/^ {2}--([\w-]+)/gm)].map(([, name]) => name!)
  const documented = [
    ...rows('Flags of kube-apiserver').filter((row) => row[1] === 'works'),
    ...rows('Flags of this server'),
  ]
  t.same(
    shown.sort(),
    documented
      .map(nameOf)
      .filter((name) => !ALWAYS.includes(name))
      .sort(),
  )
})
