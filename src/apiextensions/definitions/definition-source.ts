/**
 * Thread: pool, owner. Definitions as a thread uses them: read from shared memory when somebody first asks for a schema of theirs,
 * compiled a version at a time, and forgotten when others have been used since. A schema is kept by uid, revision and version of
 * its definition.
 */
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionVersion,
} from '../../api/generated/kinds/apiextensions.v1.js'
import { formatGroupResource } from '../../api/group-version.js'
import type { ResourceDefinition } from '../../api/resource-definition.js'
import type { SchemaSource } from '../../api/schema.js'
import { compileSchema } from '../schema/compile-schema.js'
import type { CompiledSchema } from '../schema/interface.js'

/** The newest state of a definition, by name; undefined when memory does not have it. */
export type ReadDefinition = (name: string) => CustomResourceDefinition | undefined

/** A version of a custom resource: what its definition says of it, and its schema ready for use. */
export interface CompiledVersion {
  readonly spec: CustomResourceDefinitionVersion
  readonly schema: CompiledSchema
}

/** More than a thread has in use at a time; a compiled schema is about as large as its text. */
const MAX_COMPILED = 256

export class DefinitionSource {
  readonly #read: ReadDefinition
  readonly #builtin: SchemaSource
  readonly #compiled = new Map<string, CompiledVersion>()

  constructor(read: ReadDefinition, builtin: SchemaSource) {
    this.#read = read
    this.#builtin = builtin
  }

  /** The definition of a served resource as it is now; undefined when it has gone, or is another one of the same name. */
  definition(resource: ResourceDefinition): CustomResourceDefinition | undefined {
    const found = this.#read(formatGroupResource(resource))
    return found?.metadata?.uid === resource.uid ? found : undefined
  }

  /** Undefined for a version that there is not. */
  version(resource: ResourceDefinition, name: string): CompiledVersion | undefined {
    const key = `${resource.uid}/${resource.revision}/${name}`
    const known = this.#compiled.get(key)
    if (known !== undefined) {
      // The order of the map is that of use.
      this.#compiled.delete(key)
      this.#compiled.set(key, known)
      return known
    }
    const definition = this.definition(resource)
    const spec = definition?.spec?.versions?.find((version) => version.name === name)
    if (definition === undefined || spec === undefined) return undefined
    const compiled = {
      spec,
      schema: compileSchema(spec.schema?.openAPIV3Schema, {
        builtin: this.#builtin,
        name: typeName(resource, name),
        kind: { group: resource.group, version: name, kind: resource.kind, versions: versionNames(definition) },
        preserveUnknownFields: definition.spec?.preserveUnknownFields === true,
      }),
    }
    this.#compiled.set(key, compiled)
    if (this.#compiled.size > MAX_COMPILED) this.#compiled.delete(this.#compiled.keys().next().value!)
    return compiled
  }
}

const versionNames = ({ spec }: CustomResourceDefinition): string[] =>
  (spec?.versions ?? []).map((version) => version.name ?? '')

/** As documents name the type: com.example.v1.Widget. */
export const typeName = ({ group, kind }: Pick<ResourceDefinition, 'group' | 'kind'>, version: string): string =>
  `${group.split('.').reverse().join('.')}.${version}.${kind}`
