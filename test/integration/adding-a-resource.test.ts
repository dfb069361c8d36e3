/** docs/adding-a-resource.md, done: its blocks are written into a copy of the project, which is generated, bundled and used. */
import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import t from 'tap'
import type { KubeObject } from '#keelson/api/object.js'
import { KeelsonProcess } from '../support/keelson-process.js'

const DOCUMENT = 'docs/adding-a-resource.md'
const SHELVES = '/apis/library.example.com/v1/namespaces/default/shelves'

interface Block {
  readonly action: string
  readonly target: string
  readonly text: string
}

const blocks = (): Block[] =>
  [...readFileSync(DOCUMENT, 'utf8').matchAll(/```\w+ (\w+)=(\S+)\n([\s\S]*?)```/g)].map(
    ([, action, target, text]) => ({
      action: action!,
      target: target!,
      text: text!,
    }),
  )

/** The import stands with the others, the entry in the table. */
function addRow(folder: string, table: 'rules' | 'facts', name: string, line: string): void {
  const file = path.join(folder, `src/registry/${table}-table.ts`)
  const [, symbol] = /import \{ (\w+) \}/.exec(line)!
  const text = readFileSync(file, 'utf8').replace(
    /(const (?:RULES|FACTS): [^\n]*\n)/,
    (_, head: string) => `${head}  '${name}': ${symbol},\n`,
  )
  writeFileSync(file, `${line}${text}`)
}

function copyOfProject(): string {
  const folder = mkdtempSync(path.resolve('build', 'adding-a-resource-'))
  for (const name of ['src', 'scripts', 'package.json', 'tsconfig.base.json'])
    cpSync(name, path.join(folder, name), { recursive: true })
  symlinkSync(path.resolve('node_modules'), path.join(folder, 'node_modules'))
  for (const { action, target, text } of blocks()) {
    const file = path.join(folder, target)
    if (action === 'file') {
      mkdirSync(path.dirname(file), { recursive: true })
      writeFileSync(file, text)
    } else if (action === 'append') appendFileSync(file, text)
    else addRow(folder, action === 'facts' ? 'facts' : 'rules', target, text)
  }
  return folder
}

t.test('the resource of the document', async (t) => {
  const all = blocks()
  t.same(
    all.map(({ action }) => action),
    ['file', 'append', 'file', 'rules', 'file', 'facts'],
  )
  const lines = all.reduce((sum, { text }) => sum + text.trimEnd().split('\n').length, 0)
  t.ok(lines < 60, `${lines} lines`)
  const folder = copyOfProject()
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  for (const script of ['generate.mjs', 'bundle.mjs'])
    execFileSync(process.execPath, [path.join(folder, 'scripts', script)], { cwd: folder, stdio: 'pipe' })
  const server = await KeelsonProcess.start([], undefined, { entry: path.join(folder, 'bundle/main/index.js') })
  t.teardown(() => server.close())
  const shelf = { apiVersion: 'library.example.com/v1', kind: 'Shelf', metadata: { name: 'a' } }
  const refused = await server.request('POST', SHELVES, shelf)
  t.match(refused.json, { code: 422, details: { causes: [{ field: 'spec.room' }] } }, 'its rules are asked')
  const created = await server.request('POST', SHELVES, { ...shelf, spec: { room: 'hall' } })
  t.match(created.json, { metadata: { name: 'a', generation: 1 }, spec: { room: 'hall', boards: 5 } })
  const list = await server.request('GET', `${SHELVES}?fieldSelector=spec.room%3Dhall`)
  t.match(list.json, { kind: 'ShelfList', items: [{ metadata: { name: 'a' } }] })
  const accept = 'application/vnd.kubernetes.protobuf'
  const wire = await server.request('GET', `${SHELVES}/a`, undefined, { accept })
  t.equal(wire.headers.get('content-type'), accept)
  t.match(wire.text.replaceAll('\n', ' '), /library\.example\.com\/v1.*Shelf.*hall/)
  const table = await server.request('GET', SHELVES, undefined, {
    accept: 'application/json;as=Table;g=meta.k8s.io;v=v1',
  })
  t.match(table.json, { columnDefinitions: [{ name: 'Name' }, { name: 'Room' }, { name: 'Age' }] })
  const moved = await server.request('PUT', `${SHELVES}/a`, {
    ...(created.json as KubeObject),
    spec: { room: 'attic' },
  })
  t.equal(moved.status, 422, 'rooms do not change')
  t.match((await server.request('GET', '/apis/library.example.com/v1')).json, { resources: [{ name: 'shelves' }] })
  t.match(
    (await server.request('GET', '/openapi/v3/apis/library.example.com/v1')).text,
    /com\.example\.library\.v1\.Shelf/,
  )
})
