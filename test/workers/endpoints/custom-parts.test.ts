import t from 'tap'
import type { KubeObject } from '#keelson/api/object.js'
import type { ResourceDefinition } from '#keelson/api/resource-definition.js'
import type { ObjectConverter } from '#keelson/apiextensions/conversion/interface.js'
import { customFields, customParts } from '#keelson/workers/endpoints/custom-parts.js'
import { EndpointFixture } from '../../support/endpoint-fixture.js'

const DEFINITION: ResourceDefinition = {
  group: 'example.com',
  resource: 'widgets',
  kind: 'Widget',
  singular: 'widget',
  shortNames: [],
  categories: [],
  namespaced: true,
  versions: [
    { name: 'v1', served: true },
    { name: 'v2', served: true },
  ],
  storageVersion: 'v2',
  listKind: 'WidgetList',
  uid: 'u',
  revision: 1,
  memoryForm: '',
  terminating: false,
}

const properties = (name: string) => ({
  openAPIV3Schema: {
    type: 'object',
    properties: { spec: { type: 'object', properties: { [name]: { type: 'string' } } } },
  },
})

function fixtureOf(more: Partial<ResourceDefinition> = {}): EndpointFixture {
  const fixture = new EndpointFixture()
  fixture.definitions.set('widgets.example.com', {
    metadata: { uid: 'u' },
    spec: {
      versions: [
        { name: 'v1', schema: properties('one'), selectableFields: [{ jsonPath: '.spec.one' }] },
        { name: 'v2', schema: properties('two') },
      ],
    },
  })
  fixture.scheme.apply({ type: 'set', definition: { ...DEFINITION, ...more } })
  return fixture
}

const converter: ObjectConverter = {
  convert: async (objects, apiVersion) => objects.map((object) => ({ ...object, apiVersion })),
  convertStored: async (objects, apiVersion) => objects.map((object) => ({ ...object, apiVersion })),
}
const refuse = (): never => {
  throw new Error('nobody is to be asked')
}

t.test('by strategy None versions differ in name, and in what their schemas know', async (t) => {
  const { scheme } = fixtureOf()
  const info = scheme.catalogue.find('example.com', 'v1', 'widgets')!
  const parts = customParts(scheme, info, refuse)!
  t.equal(parts.converter, undefined)
  t.equal(parts.storageApiVersion, 'example.com/v2')
  const stored: KubeObject = { apiVersion: 'example.com/v2', kind: 'Widget', spec: { one: 'a', two: 'b' } }
  const shown = parts.rules.conversions?.['example.com/v1']?.fromMemoryVersion(stored)
  t.match(shown, { apiVersion: 'example.com/v1', spec: { one: 'a' } })
  t.same(customFields(info, parts.version), ['metadata.name', 'metadata.namespace', 'spec.one'])
})

t.test('by a webhook nothing is converted in place', async (t) => {
  const { scheme } = fixtureOf({ convertsByWebhook: true })
  const info = scheme.catalogue.find('example.com', 'v1', 'widgets')!
  const parts = customParts(scheme, info, () => converter)!
  t.equal(parts.converter, converter)
  t.same(parts.rules.conversions, {})
})

t.test('an endpoint of a webhook’s resource speaks its version to the last', async (t) => {
  const fixture = fixtureOf({ convertsByWebhook: true })
  fixture.converter = converter
  const endpoint = fixture.endpoints.find({
    apiGroup: 'example.com',
    apiVersion: 'v1',
    resource: 'widgets',
    subresource: '',
  })
  t.equal(endpoint.conversion, undefined)
  t.equal(endpoint.converter, converter)
  t.equal(endpoint.schema, endpoint.memorySchema)
  const stored = fixture.endpoints.findStored({ ...DEFINITION, convertsByWebhook: true })
  t.equal(stored.kind.version, 'v2')
})

t.test('a definition that has gone meanwhile is not found; a built-in resource has none', async (t) => {
  const fixture = fixtureOf()
  const info = fixture.scheme.catalogue.find('example.com', 'v1', 'widgets')!
  fixture.definitions.clear()
  t.throws(() => customParts(fixture.scheme, info, refuse), { code: 404 })
  const pods = fixture.scheme.catalogue.find('', 'v1', 'pods')!
  t.equal(customParts(fixture.scheme, pods, refuse), undefined)
})
