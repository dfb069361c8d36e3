import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { temporaryFolder } from '../support/temporary-folder.js'

const run = promisify(execFile)
const ROOT = process.cwd()

/** The example of a document, as it stands there. */
function example(document: string, language: string): string {
  const text = readFileSync(document, 'utf8')
  const start = text.indexOf(`\`\`\`${language}\n`)
  return text.slice(start + language.length + 4, text.indexOf('\n```', start + 1))
}

t.test('the package that npm packs', async (t) => {
  const folder = temporaryFolder(t, 'package')
  // The bundle is built already; packing it again from within the tests would pull it from under the others.
  const { stdout } = await run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], {
    cwd: ROOT,
  })
  const [packed] = JSON.parse(stdout) as { filename: string; files: { path: string }[] }[]
  const names = packed!.files.map((file) => file.path)
  for (const name of [
    'bundle/main/index.js',
    'bundle/main/library.js',
    'dist/main/library.d.ts',
    'bundle/ui/index.html',
  ])
    t.ok(names.includes(name), name)
  t.same(
    names.filter((name) => name.startsWith('test/') || name.startsWith('src/') || name.endsWith('.map')),
    [],
  )
  const user = path.join(folder, 'user')
  const home = path.join(user, 'node_modules/keelson')
  mkdirSync(home, { recursive: true })
  await run('tar', ['-xzf', path.join(folder, packed!.filename), '--strip-components=1', '-C', home])
  // Its dependencies as they are installed here: the registry is not asked again.
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(home, 'node_modules'))
  symlinkSync(path.join(ROOT, 'node_modules/@kubernetes'), path.join(user, 'node_modules/@kubernetes'))
  writeFileSync(path.join(user, 'package.json'), '{"type":"module"}')

  await t.test('starts as a command', async (t) => {
    const { stdout } = await run(process.execPath, [path.join(home, 'bundle/main/index.js'), '--help'])
    t.match(stdout, /Usage: keelson/)
  })

  symlinkSync(path.join(ROOT, 'node_modules/@types'), path.join(user, 'node_modules/@types'))
  for (const [document, tests] of [
    ['docs/testing-operators.md', 2],
    ['docs/testing-webhooks.md', 2],
  ] as const) {
    await t.test(`runs the test of ${document}`, async (t) => {
      const name = path.basename(document, '.md')
      writeFileSync(path.join(user, `${name}.test.ts`), example(path.join(ROOT, document), 'ts'))
      const tsc = path.join(ROOT, 'node_modules/typescript/bin/tsc')
      const flags = ['--target', 'es2022', '--module', 'nodenext', '--skipLibCheck', '--types', 'node']
      const compiled = await run(process.execPath, [tsc, ...flags, '--strict', `${name}.test.ts`], { cwd: user }).then(
        () => '',
        (error: { stdout: string }) => error.stdout,
      )
      t.equal(compiled, '', 'the example is typed')
      const { stdout: said } = await run(process.execPath, ['--test', '--test-reporter=tap', `${name}.test.js`], {
        cwd: user,
      })
      t.match(said, new RegExp(`# pass ${tests}\n`))
      t.match(said, /# fail 0\n/)
    })
  }
})
