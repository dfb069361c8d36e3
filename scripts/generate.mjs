// npm run generate                      src/api/catalogue → src/api/generated; src/metrics/families → docs/metrics.md, src/main/flags → docs/flags.md
// npm run generate -- --check           fails when the generated files are not up to date
// npm run generate -- --import FACTS --go PREFIX=FOLDER…
//                                       first refreshes src/api/catalogue from published facts: FACTS holds
//                                       openapi_facts.json, proto_facts.json and proto_json_exceptions.json; each
//                                       --go names a folder of Go packages and the prefix of its definitions
//                                       (io.k8s.api.=…/k8s.io/api)
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { flagsDocument } from './generate-flags-doc.mjs'
import { metricsDocument } from './generate-metrics-doc.mjs'
import { generatedFiles } from './generate-tables.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const tables = path.join(root, 'src/api/catalogue')
const generated = path.join(root, 'src/api/generated')
const { values } = parseArgs({
  options: {
    check: { type: 'boolean', default: false },
    import: { type: 'string' },
    go: { type: 'string', multiple: true, default: [] },
  },
})

if (values.import !== undefined) {
  const { importFacts } = await import('./generate-import.mjs')
  const goRoots = values.go.map((text) => {
    const [prefix, folder] = text.split('=')
    if (folder === undefined) throw new Error(`--go ${text}: expected PREFIX=FOLDER`)
    return { prefix, folder }
  })
  console.log(`imported ${importFacts({ facts: values.import, goRoots, into: tables })} packages`)
}

const stale = []
const files = [...generatedFiles(tables)].map(([name, text]) => [path.join(generated, name), text])
files.push([path.join(root, 'docs/metrics.md'), await metricsDocument(path.join(root, 'src/metrics/families.ts'))])
files.push([path.join(root, 'docs/flags.md'), await flagsDocument(root)])
for (const [file, text] of files) {
  if (existsSync(file) && readFileSync(file, 'utf8') === text) continue
  stale.push(path.relative(root, file))
  if (values.check) continue
  mkdirSync(path.dirname(file), { recursive: true })
  writeFileSync(file, text)
}
const wanted = new Set(files.map(([file]) => file))
for (const name of readdirSync(generated, { recursive: true })) {
  const file = path.join(generated, name)
  if (!name.endsWith('.ts') || wanted.has(file)) continue
  stale.push(path.relative(root, file))
  if (!values.check) rmSync(file)
}
if (!values.check) console.log(stale.length === 0 ? 'nothing changed' : `wrote ${stale.join(', ')}`)
else if (stale.length > 0) {
  console.error(`not up to date: ${stale.join(', ')}; run "npm run generate"`)
  process.exit(1)
}
