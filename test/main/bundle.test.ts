/** What ships: every file of the bundle, and the packages that it still loads from node_modules. */
import { readdirSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import path from 'node:path'
import t from 'tap'

const folder = path.resolve('bundle')
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
  (name) => name.endsWith('.js') && !name.startsWith('ui'),
)

/** Packages with binaries or files of their own beside them; everything else would be read file by file at each start. */
const LOADED = ['lmdb', 'piscina']

t.test('the bundle imports no packages but those that cannot be part of it', async (t) => {
  const imported = new Set<string>()
  for (const name of files) {
    const text = readFileSync(path.join(folder, name), 'utf8')
    for (const [, module] of text.matchAll(/^(?:import|export|\} from)\b[^;'"]*["']([^'"]+)["'];$/gm))
      if (module !== undefined && !module.startsWith('.') && !isBuiltin(module)) imported.add(module)
  }
  t.ok(files.length > 0)
  t.strictSame([...imported].sort(), LOADED)
})
