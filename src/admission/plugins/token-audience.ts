/**
 * Thread: pool. The audiences for which a kubelet may have tokens made: those that its pod's volumes name, themselves
 * or through their CSI driver; others only when an authorizer says so. Else a node could speak for its pods to anybody.
 */

import type {
  PersistentVolume,
  PersistentVolumeClaim,
  PersistentVolumeSpec,
  Pod,
  Volume,
} from '../../api/generated/kinds/core.v1.js'
import type { CSIDriver } from '../../api/generated/kinds/storage.v1.js'
import { lookupTable } from '../../lib/lookup-table.js'
import type { AdmissionAttributes } from '../chain.js'
import { forbid } from '../forbid.js'
import type { AdmissionObjects, ResourceOf } from '../objects.js'
import type { Permissions } from '../permissions.js'

const VERB = 'request-serviceaccounts-token-audience'
const CLAIMS: ResourceOf<PersistentVolumeClaim> = { group: '', version: 'v1', resource: 'persistentvolumeclaims' }
const VOLUMES: ResourceOf<PersistentVolume> = { group: '', version: 'v1', resource: 'persistentvolumes' }
const DRIVERS: ResourceOf<CSIDriver> = { group: 'storage.k8s.io', version: 'v1', resource: 'csidrivers' }

/** The CSI drivers that mount volumes of the kinds from before CSI. */
const MIGRATED: Readonly<Record<string, string>> = lookupTable({
  awsElasticBlockStore: 'ebs.csi.aws.com',
  azureDisk: 'disk.csi.azure.com',
  azureFile: 'file.csi.azure.com',
  cinder: 'cinder.csi.openstack.org',
  gcePersistentDisk: 'pd.csi.storage.gke.io',
  portworxVolume: 'pxd.portworx.com',
  vsphereVolume: 'csi.vsphere.vmware.com',
})

export class TokenAudience {
  readonly #objects: AdmissionObjects
  readonly #permissions: Permissions

  constructor(objects: AdmissionObjects, permissions: Permissions) {
    this.#objects = objects
    this.#permissions = permissions
  }

  /** Throws 403. A token without an audience is for the server itself, and a volume must name it as such. */
  async check(attributes: AdmissionAttributes, pod: Pod, audiences: readonly string[]): Promise<void> {
    const [audience = '', ...others] = audiences
    if (others.length > 0) throw forbid(attributes, 'a kubelet asks for one audience at most')
    for (const volume of pod.spec?.volumes ?? []) if (await this.#names(volume, pod, audience)) return
    const { user, namespace, name } = attributes
    const question = { verb: VERB, apiGroup: '', apiVersion: 'v1', resource: audience, namespace, name }
    if (await this.#permissions.may(user, question)) return
    throw forbid(
      attributes,
      `no volume of the pod names the audience ${JSON.stringify(audience)}, and ${user.name} has no right to tokens for it`,
    )
  }

  async #names(volume: Volume, pod: Pod, audience: string): Promise<boolean> {
    const sources = volume.projected?.sources ?? []
    if (sources.some(({ serviceAccountToken: token }) => token !== undefined && (token.audience ?? '') === audience))
      return true
    const driverName = await this.#driverOf(volume, pod)
    if (driverName === '') return false
    const driver = await this.#objects.get(DRIVERS, '', driverName)
    return (driver?.spec?.tokenRequests ?? []).some((request) => (request.audience ?? '') === audience)
  }

  async #driverOf(volume: Volume, pod: Pod): Promise<string> {
    const { name: podName = '', namespace = '' } = pod.metadata ?? {}
    if (volume.ephemeral !== undefined) return this.#driverOfClaim(namespace, `${podName}-${volume.name ?? ''}`)
    if (volume.persistentVolumeClaim !== undefined)
      return this.#driverOfClaim(namespace, volume.persistentVolumeClaim.claimName ?? '')
    return driverIn(volume)
  }

  async #driverOfClaim(namespace: string, name: string): Promise<string> {
    const claim = await this.#objects.get(CLAIMS, namespace, name)
    const volumeName = claim?.spec?.volumeName ?? ''
    if (volumeName === '') return ''
    const volume = await this.#objects.get(VOLUMES, '', volumeName)
    return driverIn(volume?.spec ?? {})
  }
}

function driverIn(source: Volume | PersistentVolumeSpec): string {
  if (source.csi !== undefined) return source.csi.driver ?? ''
  const kind = Object.keys(source).find((field) => Object.hasOwn(MIGRATED, field))
  return kind === undefined ? '' : MIGRATED[kind]!
}
