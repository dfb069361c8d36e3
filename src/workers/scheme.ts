/** Thread: any. The built-in resources as every thread sees them: what is served, its schemas, where it is stored. */
import { BuiltinSchemas } from '../api/builtin-schema.js'
import { Catalogue } from '../api/catalogue.js'
import type { GroupResource } from '../api/group-version.js'
import type { SchemaSource } from '../api/schema.js'
import { assert } from '../lib/assert.js'
import { type DefaultStorageFactory, newStorageFactory, type StorageFactoryDependencies } from '../storage/factory.js'
import type { EtcdOptions } from '../storage/factory-options.js'
import { jsonCodec } from './storage-codec.js'

export interface Scheme {
  readonly catalogue: Catalogue
  readonly schemas: SchemaSource
  readonly storageFactory: DefaultStorageFactory
}

export function openScheme(etcdOptions: EtcdOptions, transformers: StorageFactoryDependencies['transformers']): Scheme {
  const all = Catalogue.builtin()
  const catalogue = all.servedByDefault()
  const schemas = new BuiltinSchemas()
  const schemaOf = ({ group, resource }: GroupResource) => {
    const info = catalogue.resources.find((r) => r.group === group && r.resource === resource)
    const schema = info === undefined ? undefined : schemas.kind(info.group, info.version, info.kind)
    assert(schema !== undefined, `there is no schema for ${resource} of ${JSON.stringify(group)}`)
    return schema
  }
  const storageFactory = newStorageFactory(etcdOptions, {
    newCodec: ({ groupResource }) => jsonCodec(schemaOf(groupResource)),
    versionsOf: (group) => all.versions(group),
    groupEnabled: (group) => catalogue.groups().includes(group),
    ...(transformers === undefined ? {} : { transformers }),
  })
  return { catalogue, schemas, storageFactory }
}
