/** Thread: pool. Who gives an object an owner may delete the object, and who makes an owner wait may set its finalizers. */
import { type GroupVersionResource, parseGroupVersion } from '../../api/group-version.js'
import { type KubeObject, metadataOf, type OwnerReference } from '../../api/object.js'
import type { AdmissionAttributes, AdmissionPlugin } from '../chain.js'
import { forbid } from '../forbid.js'
import type { Permissions } from '../permissions.js'

/** Gives the resources of a kind, and whether they are in namespaces. */
export type KindResources = (
  apiVersion: { group: string; version: string },
  kind: string,
) => readonly { resource: GroupVersionResource; namespaced: boolean }[]

export class OwnerReferencesPermissionEnforcement implements AdmissionPlugin {
  readonly name = 'OwnerReferencesPermissionEnforcement'
  readonly #permissions: Permissions
  readonly #resourcesOf: KindResources

  constructor(permissions: Permissions, resourcesOf: KindResources) {
    this.#permissions = permissions
    this.#resourcesOf = resourcesOf
  }

  handles({ operation, resource, subresource }: AdmissionAttributes): boolean {
    if (operation !== 'CREATE' && operation !== 'UPDATE') return false
    // A binding carries owner references that are not the pod's.
    return !(resource.group === '' && (subresource === 'binding' || resource.resource === 'bindings'))
  }

  validate(attributes: AdmissionAttributes): Promise<void> | void {
    const next = ownersOf(attributes.object)
    const old = ownersOf(attributes.oldObject)
    if (next.length === 0 && old.length === 0) return
    if (attributes.oldObject !== undefined && sameOwners(next, old)) return
    return this.#check(attributes, next, old)
  }

  async #check(attributes: AdmissionAttributes, next: OwnerReference[], old: OwnerReference[]): Promise<void> {
    const { user, operation, resource, namespace, name, subresource } = attributes
    if (operation !== 'CREATE') {
      const mayDelete = await this.#permissions.may(user, {
        verb: 'delete',
        apiGroup: resource.group,
        apiVersion: resource.version,
        resource: resource.resource,
        subresource,
        namespace,
        name,
      })
      if (!mayDelete) throw forbid(attributes, "cannot set an ownerRef on a resource you can't delete")
    }
    const wasBlocking = new Set(old.filter((one) => one.blockOwnerDeletion === true).map((one) => one.uid))
    const blocking = next.filter((one) => one.blockOwnerDeletion === true && !wasBlocking.has(one.uid))
    if (blocking.length === 0 || (await this.#mayFinalizeAnything(attributes))) return
    for (const owner of blocking) await this.#checkOwner(attributes, owner)
  }

  #mayFinalizeAnything({ user }: AdmissionAttributes): Promise<boolean> {
    return this.#permissions.may(user, {
      verb: 'update',
      apiGroup: '*',
      resource: '*',
      subresource: 'finalizers',
      name: '*',
    })
  }

  async #checkOwner(attributes: AdmissionAttributes, owner: OwnerReference): Promise<void> {
    const apiVersion = parseGroupVersion(owner.apiVersion)
    const found = apiVersion === undefined ? [] : this.#resourcesOf(apiVersion, owner.kind)
    if (found.length === 0)
      throw forbid(
        attributes,
        `cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion ${owner.apiVersion} Kind ${owner.kind}`,
      )
    for (const { resource, namespaced } of found) {
      const mayFinalize = await this.#permissions.may(attributes.user, {
        verb: 'update',
        apiGroup: resource.group,
        apiVersion: resource.version,
        resource: resource.resource,
        subresource: 'finalizers',
        // An owner that is in a namespace is in that of the object it owns.
        namespace: namespaced ? attributes.namespace : '',
        name: owner.name,
      })
      if (!mayFinalize)
        throw forbid(
          attributes,
          "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on",
        )
    }
  }
}

const ownersOf = (object: KubeObject | undefined): OwnerReference[] =>
  object === undefined ? [] : (metadataOf(object).ownerReferences ?? [])

function sameOwners(a: readonly OwnerReference[], b: readonly OwnerReference[]): boolean {
  const text = ({ apiVersion, kind, name, uid, controller, blockOwnerDeletion }: OwnerReference): string =>
    JSON.stringify([apiVersion, kind, name, uid, controller, blockOwnerDeletion])
  return a.length === b.length && a.every((one, i) => text(one) === text(b[i]!))
}
