import t from 'tap'
import { Catalogue } from '#keelson/api/catalogue.js'
import { DiscoveryDocuments } from '#keelson/api/discovery.js'
import { resourceInfos } from '#keelson/api/resource-definition.js'

const infosOf = (group: string, resource: string, versions: readonly string[], revision = 1) =>
  resourceInfos({
    group,
    resource,
    kind: `${resource}-kind`,
    listKind: `${resource}-list`,
    singular: resource,
    shortNames: [],
    categories: [],
    namespaced: true,
    versions: versions.map((name) => ({ name, served: true })),
    storageVersion: versions[0]!,
    uid: 'u',
    revision,
    memoryForm: '',
    terminating: false,
  })

t.test('custom groups come behind the built-in ones, by name, with their versions in order', async (t) => {
  const catalogue = Catalogue.builtin()
  const before = catalogue.groups().length
  catalogue.add(infosOf('z.example.com', 'ones', ['v1alpha1']))
  catalogue.add(infosOf('a.example.com', 'twos', ['v1beta1', 'v1']))
  catalogue.add(infosOf('z.example.com', 'afters', ['v2', 'v1alpha1']))
  t.same(catalogue.groups().slice(before), ['a.example.com', 'z.example.com'])
  t.same(catalogue.versions('a.example.com'), ['v1', 'v1beta1'])
  t.same(catalogue.versions('z.example.com'), ['v2', 'v1alpha1'])
  t.same(
    catalogue.resourcesOf('z.example.com', 'v1alpha1').map(({ resource }) => resource),
    ['afters', 'ones'],
  )
  t.ok(catalogue.isCustomGroup('z.example.com'))
  t.notOk(catalogue.isCustomGroup('apps'))
  catalogue.remove(infosOf('z.example.com', 'afters', ['v2', 'v1alpha1']))
  t.same(catalogue.versions('z.example.com'), ['v1alpha1'])
  catalogue.remove(infosOf('z.example.com', 'ones', ['v1alpha1']))
  t.notOk(catalogue.hasGroup('z.example.com'))
  t.equal(catalogue.find('z.example.com', 'v1alpha1', 'ones'), undefined)
})

t.test('a list of resources is the same one until one of them changes', async (t) => {
  const catalogue = Catalogue.builtin()
  catalogue.add(infosOf('a.example.com', 'ones', ['v1']))
  const list = catalogue.resourcesOf('a.example.com', 'v1')
  catalogue.add(infosOf('b.example.com', 'twos', ['v1']))
  t.equal(catalogue.resourcesOf('a.example.com', 'v1'), list)
  catalogue.add(infosOf('a.example.com', 'ones', ['v1'], 2))
  t.not(catalogue.resourcesOf('a.example.com', 'v1'), list)
})

t.test('documents follow the catalogue', async (t) => {
  const catalogue = Catalogue.builtin()
  const documents = new DiscoveryDocuments(catalogue)
  const { etag } = documents.aggregated('apis')
  const apps = documents.apiGroup('apps')
  t.equal(documents.aggregated('apis').etag, etag)
  catalogue.add(infosOf('a.example.com', 'ones', ['v1']))
  t.match(documents.aggregated('apis').body.toString(), /"name":"a\.example\.com"/)
  t.match(documents.apiGroupList().body.toString(), /"a\.example\.com\/v1"/)
  t.equal(documents.apiGroup('apps'), apps, 'of a group that has not changed it is the same')
  catalogue.remove(infosOf('a.example.com', 'ones', ['v1']))
  t.equal(documents.apiGroup('a.example.com'), undefined)
  t.equal(documents.aggregated('apis').etag, etag)
})
