import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'

const files = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.includes('generated'))
    .map((name) => path.join(folder, name))

const sources = files('src')
  .sort()
  .map((name) => ({ name, text: readFileSync(name, 'utf8') }))

t.test('the environment and the arguments are read in one place', async (t) => {
  const readers = sources.filter(({ text }) => /process\.(env|argv)\b/.test(text)).map(({ name }) => name)
  // What a library reads from the environment can only be said there.
  t.same(readers, ['src/main/http/header-limit.ts', 'src/main/index.ts'])
})

t.test('tables that are asked by name know no names but their own', async (t) => {
  const plain = /^(?:export )?const ([A-Z][A-Z0-9_]*): Readonly<Record<string, [^=]*(?:=>[^=]*)*= \{/gm
  const found = sources.flatMap(({ name, text }) => [...text.matchAll(plain)].map(([, table]) => `${name} ${table}`))
  // One character is no name that every object has.
  t.same(
    found.filter((one) => !one.endsWith(' ESCAPES')),
    [],
  )
})

t.test('the process is ended in one place', async (t) => {
  const enders = sources.filter(({ text }) => /process\.exit\(/.test(text)).map(({ name }) => name)
  t.same(enders, ['src/main/index.ts'])
})

t.test('every source file says in which thread it runs', async (t) => {
  const silent = sources.filter(({ text }) => !/^(#!.*\n)?\/\*\*[\s*]*Thread: /.test(text)).map(({ name }) => name)
  t.same(silent, [])
})

t.test('file names are kebab-case', async (t) => {
  t.same(
    sources.map(({ name }) => path.basename(name)).filter((name) => !/^[a-z0-9]+(-[a-z0-9]+)*\.ts$/.test(name)),
    [],
  )
})

t.test('nothing is left to do, ignored or unchecked without a word', async (t) => {
  const marks = /\b(TODO|FIXME|XXX)\b|@ts-ignore|@ts-expect-error|eslint-disable|catch \{\s*\}|\bas any\b/
  t.same(
    sources.filter(({ text }) => marks.test(text)).map(({ name }) => name),
    [],
  )
})
