/**
 * Thread: any. What another server says of one of its versions, as an entry of aggregated discovery. Everybody who asks this server what
 * it serves reads it: only members that are known, of the types that they have, are taken over.
 */
import { isJsonObject, type Json, type JsonObject } from '../api/object.js'

const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '')
const texts = (value: Json | undefined): string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []

/** The most resources that are taken over of one version. */
const MAX_RESOURCES = 5_000

const objects = (value: Json | undefined): JsonObject[] =>
  Array.isArray(value) ? value.filter(isJsonObject).slice(0, MAX_RESOURCES) : []

/** An entry of aggregated discovery as another server wrote it, without what has no place in one. */
export function knownVersion(version: string, given: JsonObject): JsonObject {
  return { version, resources: objects(given['resources']).map(knownResource) }
}

function knownResource(given: JsonObject): JsonObject {
  const subresources = objects(given['subresources']).map((one) => ({
    subresource: text(one['subresource']),
    ...responseKind(one),
    verbs: texts(one['verbs']),
  }))
  return {
    resource: text(given['resource']),
    ...responseKind(given),
    scope: given['scope'] === 'Namespaced' ? 'Namespaced' : 'Cluster',
    singularResource: text(given['singularResource']),
    verbs: texts(given['verbs']),
    ...lists(given),
    ...(subresources.length === 0 ? {} : { subresources }),
  }
}

/** Clients of Kubernetes 1.26 end without a kind, so there is always one. */
const responseKind = ({ responseKind: given }: JsonObject): JsonObject => ({
  responseKind: kindOf(isJsonObject(given) ? given : {}),
})

function lists(given: JsonObject): JsonObject {
  const [shortNames, categories] = [texts(given['shortNames']), texts(given['categories'])]
  return {
    ...(shortNames.length === 0 ? {} : { shortNames }),
    ...(categories.length === 0 ? {} : { categories }),
  }
}

/** The old document of a version (APIResourceList), of a server that knows the old form only. */
export function versionEntry(version: string, list: JsonObject): JsonObject {
  const items = objects(list['resources'])
  const resources = new Map<string, JsonObject & { subresources?: JsonObject[] }>()
  for (const item of items.filter((one) => !text(one['name']).includes('/'))) {
    resources.set(text(item['name']), {
      resource: text(item['name']),
      responseKind: kindOf(item),
      scope: item['namespaced'] === true ? 'Namespaced' : 'Cluster',
      singularResource: text(item['singularName']),
      verbs: texts(item['verbs']),
      ...lists(item),
    })
  }
  for (const item of items) {
    const [name = '', subresource] = text(item['name']).split('/', 2)
    const resource = resources.get(name)
    if (subresource === undefined || resource === undefined) continue
    resource.subresources ??= []
    resource.subresources.push({ subresource, responseKind: kindOf(item), verbs: texts(item['verbs']) })
  }
  return { version, resources: [...resources.values()] }
}

const kindOf = (item: JsonObject): JsonObject => ({
  group: text(item['group']),
  version: text(item['version']),
  kind: text(item['kind']),
})
