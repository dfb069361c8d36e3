import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import ts from 'typescript'

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
  t.same(readers, ['src/main/http/uws/header-limit.ts', 'src/main/index.ts'])
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
  t.same(enders, ['src/main/command.ts'])
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

/** A file with more lines has a second noun in it, and a function with more does not fit a screen. */
const MAX_FILE_LINES = 450
const MAX_FUNCTION_LINES = 80
/** Of these every line is a row of one table. */
const TABLES: ReadonlySet<string> = new Set(['src/metrics/families.ts'])

function longFunctions(name: string, text: string): string[] {
  const file = ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true)
  const lineOf = (position: number): number => file.getLineAndCharacterOfPosition(position).line
  const found: string[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && 'body' in node && node.body !== undefined) {
      const first = lineOf(node.getStart(file))
      const lines = lineOf(node.end) - first + 1
      if (lines > MAX_FUNCTION_LINES) found.push(`${name}:${first + 1} has ${lines} lines`)
    }
    ts.forEachChild(node, visit)
  }
  visit(file)
  return found
}

t.test('a function fits a screen', async (t) => {
  t.same(
    longFunctions('long.ts', `function long() {\n${'go()\n'.repeat(MAX_FUNCTION_LINES)}}`),
    ['long.ts:1 has 82 lines'],
    'one that does not is found',
  )
  t.same(
    sources.flatMap(({ name, text }) => longFunctions(name, text)),
    [],
  )
})

t.test('a file holds one noun', async (t) => {
  const long = sources.filter(({ name, text }) => !TABLES.has(name) && text.split('\n').length > MAX_FILE_LINES)
  t.same(
    long.map(({ name }) => name),
    [],
  )
})

t.test('files of src that the documents name are there', async (t) => {
  const documents = [
    'docs/ARCHITECTURE.md',
    'docs/adding-a-resource.md',
    'docs/kube-apiserver-map.md',
    'CONTRIBUTING.md',
  ]
  const named =
    /`(?:src\/)?((?:main|workers|cacher|storage|registry|api|auth|admission|lib|protocol|metrics)\/[a-z0-9/.-]+\.ts)`/g
  const missing = documents.flatMap((document) =>
    [...readFileSync(document, 'utf8').matchAll(named)]
      .map(([, file]) => file!)
      .filter((file) => !existsSync(path.join('src', file)))
      .map((file) => `${document}: ${file}`),
  )
  t.same(missing, [])
})

/** What a write goes through from its decoding to its storage: each file of it has a test file in the same place below test/. */
const WRITE_PATH = ['src/workers/endpoints', 'src/registry/generic', 'src/storage/store']

/** Nothing but types: what the compiler leaves of it is empty. */
function isDeclaration({ name, text }: { readonly name: string; readonly text: string }): boolean {
  const file = ts.createSourceFile(name, text, ts.ScriptTarget.Latest)
  return file.statements.every(
    (statement) =>
      ts.isImportDeclaration(statement) || ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement),
  )
}

t.test('every file of the write path has a test of its own', async (t) => {
  t.equal(isDeclaration({ name: 'a.ts', text: 'export interface A {}' }), true)
  t.equal(isDeclaration({ name: 'a.ts', text: 'export const a = 1' }), false)
  const files = sources.filter(({ name }) => WRITE_PATH.some((room) => name.startsWith(`${room}/`)))
  t.ok(files.length > 80, 'the rooms are where they were')
  const testOf = (name: string): string => name.replace(/^src/, 'test').replace(/\.ts$/, '.test.ts')
  const untested = files.filter((file) => !isDeclaration(file) && !existsSync(testOf(file.name)))
  t.same(
    untested.map(({ name }) => name),
    [],
  )
})

t.test('tests wait by until(), which has a deadline and says what it waited for', async (t) => {
  const polling = /while \(.*\)\s*(?:\{\s*)?(?:await new Promise\(\(\w+\) => set(?:Timeout|Immediate))/
  t.match('while (!done) await new Promise((resolve) => setImmediate(resolve))', polling)
  const waiting = files('test').filter(
    (name) => !name.startsWith('test/attack') && polling.test(readFileSync(name, 'utf8')),
  )
  t.same(waiting, ['test/tidy.test.ts'])
})
