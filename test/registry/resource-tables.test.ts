/** The three tables of the registry against its folders and the catalogue: nothing is forgotten, nothing is misspelt. */
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { Catalogue } from '#keelson/api/catalogue.js'
import { formatGroupResource } from '#keelson/api/group-version.js'
import { factsOf, storageExceptions } from '#keelson/registry/facts-table.js'
import { fieldLabels } from '#keelson/registry/field-labels.js'
import { restOf } from '#keelson/registry/rest-table.js'

const REGISTRY = 'src/registry'
const TABLES = { 'strategy.ts': 'rules-table.ts', 'rest.ts': 'rest-table.ts', 'facts.ts': 'facts-table.ts' }
const catalogue = Catalogue.builtin()
const names = new Set(catalogue.resources.map(formatGroupResource))
const source = (file: string): string => readFileSync(path.join(REGISTRY, file), 'utf8')

/** `core/pods/facts.ts`, … */
const filesNamed = (name: string): string[] =>
  readdirSync(REGISTRY, { recursive: true, encoding: 'utf8' }).filter(
    (file) => path.basename(file) === name && !file.startsWith('generic/'),
  )

for (const [file, table] of Object.entries(TABLES)) {
  t.test(`every ${file} of the folders is listed in ${table}, by names that are served`, async (t) => {
    const text = source(table)
    const found = filesNamed(file)
    t.ok(found.length > 15, `${found.length} of them`)
    for (const one of found) t.ok(text.includes(`'./${one.replace(/ts$/, 'js')}'`), one)
    const rows = [...text.matchAll(/^ {2}'?([a-z0-9.]+)'?: \w+(REST|Rules|Facts),$/gm)].map(([, name]) => name!)
    t.ok(rows.length >= found.length)
    t.equal(new Set(rows).size, rows.length, 'each once')
    for (const name of rows) t.ok(names.has(name), name)
  })
}

t.test('names that share their objects say so of each other, in the same order', async (t) => {
  for (const { groupResource, cohabitating = [] } of storageExceptions()) {
    const served = cohabitating.filter((other) => names.has(formatGroupResource(other)))
    for (const other of served)
      t.same(factsOf(other).storage?.cohabitating, cohabitating, formatGroupResource(groupResource))
  }
})

t.test('what the front end passes on is what a resource knows the way of, and a subresource that it has', async (t) => {
  const passedOn: string[] = []
  for (const info of catalogue.resources) {
    const connects = Object.keys(factsOf(info).connects ?? {})
    t.same(Object.keys(restOf(info).connecters ?? {}).sort(), connects.sort(), info.resource)
    for (const name of connects) {
      passedOn.push(`${info.resource}/${name}`)
      t.ok(
        info.subresources.some((subresource) => subresource.name === name),
        name,
      )
    }
  }
  t.equal(passedOn.length, 7)
})

/** Groups of objects by which requests of others are decided. */
const DECIDING = [
  'admissionregistration.k8s.io',
  'apiextensions.k8s.io',
  'flowcontrol.apiserver.k8s.io',
  'rbac.authorization.k8s.io',
]

t.test('what every request is decided by is in memory, also with --watch-cache=false', async (t) => {
  const deciding = catalogue.resources.filter(({ group }) => DECIDING.includes(group))
  t.ok(deciding.length > 12, `${deciding.length} of them`)
  for (const info of deciding) t.equal(factsOf(info).alwaysCached, true, formatGroupResource(info))
})

t.test('a version that is deprecated is one that there is', async (t) => {
  for (const { group, resource } of catalogue.resources)
    for (const version of Object.keys(factsOf({ group, resource }).deprecation ?? {}))
      t.ok(catalogue.find(group, version, resource), `${version} ${resource}`)
  t.match(factsOf({ group: '', resource: 'endpoints' }).deprecation, { v1: /EndpointSlice/ })
})

t.test('selectors name the fields that are kept, but for those a resource hides or adds', async (t) => {
  const META = ['metadata.name', 'metadata.namespace']
  const events = [...META, 'regarding.name', 'involvedObject.name', 'reportingController', 'reportingComponent', 'type']
  t.same(fieldLabels({ group: '', resource: 'events' }, events), [
    ...META,
    'involvedObject.name',
    'reportingComponent',
    'type',
  ])
  t.same(fieldLabels({ group: 'events.k8s.io', resource: 'events' }, events), [
    ...META,
    'regarding.name',
    'reportingController',
    'type',
  ])
  t.same(fieldLabels({ group: '', resource: 'pods' }, META), [...META, 'status.podIPs'])
  t.same(fieldLabels({ group: '', resource: 'persistentvolumes' }, ['metadata.name', 'name']), META)
  const defined = { group: 'example.com', resource: 'widgets', definitionHash: 'h' }
  t.same(
    fieldLabels(defined, ['metadata.name', 'name']),
    ['metadata.name', 'name'],
    'a name is hidden of volumes alone',
  )
  t.same(fieldLabels(defined, ['metadata.name']), ['metadata.name'])
})
