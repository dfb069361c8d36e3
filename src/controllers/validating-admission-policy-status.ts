/**
 * Thread: controllers. Checks the expressions of validating policies against the types of the kinds that they match, and says in
 * `status.typeChecking` what does not fit. A policy is looked at once for each generation.
 */
import { namedResources, type TypedKind, typeWarnings } from '../admission/expressions/type-checker.js'
import { BuiltinSchemas } from '../api/builtin-schema.js'
import { Catalogue } from '../api/catalogue.js'
import { StructTypes } from '../api/cel/struct-types.js'
import { type CelType, type ObjectType, STRING } from '../api/cel/types.js'
import type { ValidatingAdmissionPolicy } from '../api/generated/kinds/admissionregistration.v1.js'
import type { CustomResourceDefinition } from '../api/generated/kinds/apiextensions.v1.js'
import { type GroupVersionResource, parseGroupVersion } from '../api/group-version.js'
import { RuleTypes } from '../apiextensions/rules/rule-types.js'
import type { JsonSchema } from '../apiextensions/schema/json-schema.js'
import type { ControlledResource, ControlledResources } from './framework/controlled-resource.js'
import type { Controller } from './framework/controller.js'
import { failedWith } from './framework/controller-client.js'
import type { ObjectReader } from './framework/object-reader.js'

const NAME = 'validatingadmissionpolicy-status-controller'
const POLICIES = 'validatingadmissionpolicies.admissionregistration.k8s.io'
const DEFINITIONS = 'customresourcedefinitions.apiextensions.k8s.io'
const OBJECT_META = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'

export const validatingAdmissionPolicyStatus: Controller = {
  name: NAME,
  account: NAME,
  requires: [POLICIES, DEFINITIONS],
  start({ client, objects, resource, resources, follow, queue }) {
    const policies = resource(POLICIES)
    const types = new KindTypes(objects, resource(DEFINITIONS), resources)
    const work = queue({
      sync: async (name) => {
        const place = { namespace: '', name }
        const policy = await objects.get<ValidatingAdmissionPolicy>(policies, place)
        const generation = Number(policy?.metadata?.generation ?? 0)
        if (policy === undefined || generation <= Number(policy.status?.observedGeneration ?? 0)) return
        const expressionWarnings = await types.warnings(policy)
        const typeChecking = expressionWarnings.length === 0 ? {} : { expressionWarnings }
        const { apiVersion, kind } = policies
        const body = { apiVersion, kind, metadata: { name }, status: { observedGeneration: generation, typeChecking } }
        try {
          await client.patch(policies, place, body, { type: 'apply', subresource: 'status', fieldManager: NAME })
        } catch (error) {
          if (!failedWith(error, 'NotFound')) throw error
        }
      },
    })
    follow(policies, { onPut: ({ name }) => work.add(name), onDelete: () => undefined })
  },
}

/** The types of kinds, made for one policy at a time: definitions change. */
class KindTypes {
  readonly #objects: ObjectReader
  readonly #definitions: ControlledResource
  readonly #resources: ControlledResources
  readonly #catalogue = Catalogue.builtin()

  constructor(objects: ObjectReader, definitions: ControlledResource, resources: ControlledResources) {
    this.#objects = objects
    this.#definitions = definitions
    this.#resources = resources
  }

  async warnings(policy: ValidatingAdmissionPolicy) {
    const types = { schemas: new BuiltinSchemas(), structs: new StructTypes() }
    const kinds = new Map<string, TypedKind>()
    for (const resource of namedResources(policy)) {
      const typed = await this.#kindOf(resource, types)
      if (typed?.type !== undefined) kinds.set(JSON.stringify(typed.kind), typed)
    }
    const sorted = [...kinds].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, typed]) => typed)
    return typeWarnings(policy, sorted, await this.#paramsType(policy, types))
  }

  async #kindOf({ group, version, resource }: GroupVersionResource, types: Types): Promise<TypedKind | undefined> {
    const info = this.#catalogue.find(group, version, resource)
    if (info === undefined) return this.#definedKind({ group, version, resource }, types)
    const schema = types.schemas.kind(group, version, info.kind)
    return { kind: { group, version, kind: info.kind }, type: schema && types.structs.of(schema) }
  }

  async #definedKind(
    { group, version, resource }: GroupVersionResource,
    { schemas, structs }: Types,
  ): Promise<TypedKind | undefined> {
    const place = { namespace: '', name: `${resource}.${group}` }
    const definition = await this.#objects.get<CustomResourceDefinition>(this.#definitions, place)
    const served = definition?.spec?.versions?.find(({ name }) => name === version)
    if (served?.served !== true) return undefined
    const kind = definition!.spec!.names?.kind ?? ''
    const schema = served.schema?.openAPIV3Schema as JsonSchema | undefined
    const type = schema && new RuleTypes().typeOf(schema, kind, true)
    const metadata = structs.of(schemas.definition(OBJECT_META) as Parameters<StructTypes['of']>[0])
    return { kind: { group, version, kind }, type: type?.kind === 'object' ? withMetadata(type, metadata) : type }
  }

  async #paramsType({ spec }: ValidatingAdmissionPolicy, types: Types): Promise<CelType | undefined> {
    const { apiVersion = '', kind = '' } = spec?.paramKind ?? {}
    const parsed = parseGroupVersion(apiVersion)
    const found = this.#resources.findKind(apiVersion, kind)
    if (parsed === undefined || found === undefined) return undefined
    const { group, version } = parsed
    return (await this.#kindOf({ group, version, resource: found.resource }, types))?.type
  }
}

interface Types {
  readonly schemas: BuiltinSchemas
  readonly structs: StructTypes
}

/** What every object has, whatever its definition says. */
function withMetadata(type: ObjectType, metadata: ObjectType): ObjectType {
  const field = (name: string, of: CelType) => [name, { type: of, required: false, property: name }] as const
  const own = [field('apiVersion', STRING), field('kind', STRING), field('metadata', metadata)]
  return { ...type, fields: new Map([...type.fields, ...own]) }
}
