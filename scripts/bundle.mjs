// Bundles the server into bundle/: what npm start runs and what the package ships. One file a thread instead of some
// four hundred modules: reading and linking them is most of what a start costs. Straight from the sources: tsc checks
// the types, esbuild is not waited for by it.
//
// Entries and chunks lie one folder deep: src/lib/module-url.ts relies on it.

import { cpSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('..', import.meta.url))
const { dependencies } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'))

/**
 * Packages of plain JavaScript that every start loads: some 250 small files in main and the pool thread, each looked for, read and compiled.
 * The others stay packages: lmdb and uWebSockets.js load binaries, Piscina starts a worker file of its own.
 */
const BUNDLED = new Set(['@noble/ciphers', 'js-yaml', 'pino', 'prom-client', 're2js', 'undici', 'ws'])
const REQUIRE = `import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);`

/** What is started by its own address: the process, its threads, the library. */
const isEntry = (name) => ['index.ts', 'library.ts', 'owner-objects.ts'].includes(name) || name.endsWith('-thread.ts')
const entries = ['main', 'workers'].flatMap((folder) =>
  readdirSync(path.join(root, 'src', folder))
    .filter(isEntry)
    .map((name) => path.join(root, 'src', folder, name)),
)

rmSync(path.join(root, 'bundle'), { recursive: true, force: true })
await build({
  entryPoints: entries,
  outbase: path.join(root, 'src'),
  outdir: path.join(root, 'bundle'),
  chunkNames: 'chunks/[name]-[hash]',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  external: Object.keys(dependencies).filter((name) => !BUNDLED.has(name)),
  // What these packages require of Node is required from ES modules, which have no `require` of their own.
  banner: { js: REQUIRE },
  sourcemap: true,
  sourcesContent: false,
  logLevel: 'warning',
})
// The page's files are served as they are.
cpSync(path.join(root, 'src/ui'), path.join(root, 'bundle/ui'), { recursive: true })
