import t from 'tap'
import { MergedDiscovery, type RemoteVersion } from '#keelson/aggregator/merged-discovery.js'
import { knownVersion, versionEntry } from '#keelson/aggregator/version-entry.js'
import { Catalogue } from '#keelson/api/catalogue.js'
import { type DiscoveryDocument, DiscoveryDocuments } from '#keelson/api/discovery.js'

const local = new DiscoveryDocuments(Catalogue.builtin().servedByDefault())
const read = (document: DiscoveryDocument | undefined): unknown =>
  document === undefined ? undefined : JSON.parse(document.body.toString())

const remote = (
  group: string,
  version: string,
  [groupPriority, versionPriority]: readonly [number, number],
  freshness: RemoteVersion['freshness'] = 'Current',
): RemoteVersion => ({
  remote: { group, version, groupPriority, versionPriority },
  entry: { version, resources: [{ resource: `things-${version}` }] },
  freshness,
})

t.test('groups stand by their priority, and those that are served here stay in their order', (t) => {
  const merged = new MergedDiscovery(local, [
    remote('last.example.com', 'v1', [10, 1]),
    remote('early.example.com', 'v1', [17790, 1]),
  ])
  const names = (read(merged.apiGroupList()) as { groups: { name: string }[] }).groups.map(({ name }) => name)
  t.equal(names[0], 'apiregistration.k8s.io')
  t.equal(names.at(-1), 'last.example.com')
  t.equal(names.indexOf('early.example.com'), names.indexOf('apps') + 1)
  const own = (read(local.apiGroupList()) as { groups: { name: string }[] }).groups.map(({ name }) => name)
  t.same(
    names.filter((name) => !name.endsWith('example.com')),
    own,
  )
  t.end()
})

t.test('versions of a group stand by their priority, then by name', (t) => {
  const merged = new MergedDiscovery(local, [
    remote('a.example.com', 'v1alpha1', [10, 5]),
    remote('a.example.com', 'v1', [10, 5]),
    remote('a.example.com', 'v1beta1', [10, 20]),
  ])
  t.match(read(merged.apiGroup('a.example.com')), {
    preferredVersion: { version: 'v1beta1' },
    versions: [{ version: 'v1beta1' }, { version: 'v1' }, { version: 'v1alpha1' }],
  })
  t.equal(merged.apiGroup('b.example.com'), undefined)
  t.end()
})

t.test('a server may serve a version of a group that has others here', (t) => {
  const merged = new MergedDiscovery(local, [remote('apps', 'v9', [17800, 1], 'Stale')])
  const { items } = read(merged.aggregated()) as {
    items: { metadata: { name: string }; versions: { version: string; freshness: string; resources: unknown[] }[] }[]
  }
  const apps = items.find(({ metadata }) => metadata.name === 'apps')
  t.match(apps?.versions, [
    { version: 'v1', freshness: 'Current' },
    { version: 'v9', freshness: 'Stale', resources: [{ resource: 'things-v9' }] },
  ])
  t.ok((apps?.versions[0]?.resources.length ?? 0) > 3)
  t.equal(merged.aggregated(), merged.aggregated(), 'a document is made once')
  t.end()
})

t.test('the old form becomes an entry of the new one', (t) => {
  const entry = versionEntry('v1', {
    resources: [
      { name: 'boats/status', kind: 'Boat', verbs: ['get'] },
      { name: 'boats', singularName: 'boat', namespaced: true, kind: 'Boat', verbs: ['list'], shortNames: ['bt'] },
      { name: 'orphans/status', kind: 'Orphan', verbs: ['get'] },
      null,
      { name: 7 },
    ],
  })
  t.match(entry, {
    version: 'v1',
    resources: [
      {
        resource: 'boats',
        scope: 'Namespaced',
        shortNames: ['bt'],
        subresources: [{ subresource: 'status', verbs: ['get'] }],
      },
    ],
  })
  t.end()
})

t.test('of what another server writes only what has a place is taken over', (t) => {
  let deep: unknown = []
  for (let i = 0; i < 100_000; i++) deep = [deep]
  const given = {
    version: 'v1',
    resources: [{ resource: 'a', verbs: ['get', 7], x: deep, subresources: 5 }, 'b'],
    deep,
  }
  t.same(knownVersion('v1', given as Parameters<typeof knownVersion>[1]), {
    version: 'v1',
    resources: [
      {
        resource: 'a',
        responseKind: { group: '', version: '', kind: '' },
        scope: 'Cluster',
        singularResource: '',
        verbs: ['get'],
      },
    ],
  })
  t.same(knownVersion('v1', { resources: 5 }), { version: 'v1', resources: [] })
  t.end()
})
