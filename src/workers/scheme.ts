/** Thread: any. The built-in resources as every thread sees them: what is served, its schemas, where it is stored. */
import { BuiltinSchemas } from '../api/builtin-schema.js'
import { Catalogue } from '../api/catalogue.js'
import { formatGroupResource, formatGroupVersion } from '../api/group-version.js'
import type { SchemaSource } from '../api/schema.js'
import { assert } from '../lib/assert.js'
import { type StoredResource, storedResources } from '../registry/stored-resource.js'
import { type DefaultStorageFactory, newStorageFactory, type StorageFactoryDependencies } from '../storage/factory.js'
import type { EtcdOptions } from '../storage/factory-options.js'
import { StorageCodec } from './storage-codec.js'

export interface Scheme {
  /** What is served. */
  readonly catalogue: Catalogue
  /** By name: `deployments.apps`. */
  readonly stored: ReadonlyMap<string, StoredResource>
  readonly schemas: SchemaSource
  readonly storageFactory: DefaultStorageFactory
}

export function openScheme(etcdOptions: EtcdOptions, transformers: StorageFactoryDependencies['transformers']): Scheme {
  const all = Catalogue.builtin()
  const catalogue = all.servedByDefault()
  const schemas = new BuiltinSchemas()
  const stored = new Map(storedResources(catalogue, all).map((resource) => [resource.name, resource]))
  const storageFactory = newStorageFactory(etcdOptions, {
    newCodec: ({ groupResource, mediaType, storageVersion }) => {
      const resource = stored.get(formatGroupResource(groupResource))
      assert(resource !== undefined, `${formatGroupResource(groupResource)} is not stored`)
      return new StorageCodec({ stored: resource, schemas, mediaType, apiVersion: formatGroupVersion(storageVersion) })
    },
    versionsOf: (group) => all.versions(group),
    groupEnabled: (group) => catalogue.groups().includes(group),
    ...(transformers === undefined ? {} : { transformers }),
  })
  return { catalogue, stored, schemas, storageFactory }
}
