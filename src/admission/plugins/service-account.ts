/**
 * Thread: pool. Pods run as a service account of their namespace and get its token and its pull secrets. `default` is made
 * when the first pod asks for it: no controller may be there to do it.
 */
import type {
  Pod,
  PodSpec,
  ProjectedVolumeSource,
  ServiceAccount as ServiceAccountKind,
} from '../../api/generated/kinds/core.v1.js'
import { metadataOf } from '../../api/object.js'
import type { Random } from '../../lib/jitter.js'
import type { AdmissionAttributes, AdmissionPlugin } from '../chain.js'
import { forbid } from '../forbid.js'
import { type AdmissionObjects, type AdmissionWriter, SERVICE_ACCOUNTS } from '../objects.js'
import { type AnyContainer, allContainers } from './pod.js'
import { podSecretNames } from './pod-references.js'

const DEFAULT = 'default'
const MIRROR = 'kubernetes.io/config.mirror'
const ENFORCE_SECRETS = 'kubernetes.io/enforce-mountable-secrets'
const VOLUME = 'kube-api-access'
const MOUNT_PATH = '/var/run/secrets/kubernetes.io/serviceaccount'
/** A kubelet asks for an hour; a token that a client does not renew works for a year with warnings. */
const TOKEN_SECONDS = 3607
const NAME_LETTERS = 'bcdfghjklmnpqrstvwxz2456789'

export class ServiceAccount implements AdmissionPlugin<Pod> {
  readonly name = 'ServiceAccount'
  readonly #objects: AdmissionObjects
  readonly #writer: AdmissionWriter
  readonly #random: Random

  constructor(objects: AdmissionObjects, writer: AdmissionWriter, random: Random) {
    this.#objects = objects
    this.#writer = writer
    this.#random = random
  }

  handles({ operation, resource, subresource }: AdmissionAttributes): boolean {
    if (resource.group !== '' || resource.resource !== 'pods') return false
    return subresource === '' ? operation === 'CREATE' : subresource === 'ephemeralcontainers' && operation === 'UPDATE'
  }

  async admit(attributes: AdmissionAttributes<Pod>): Promise<void> {
    const { object: pod = {} } = attributes
    if (attributes.operation !== 'CREATE' || pod.spec === undefined || isMirror(pod)) return
    const { spec } = pod
    if ((spec.serviceAccountName ?? '') === '') {
      spec.serviceAccountName = DEFAULT
      spec.serviceAccount = DEFAULT
    }
    const account = await this.#account(attributes, spec.serviceAccountName!)
    if (spec.automountServiceAccountToken ?? account.automountServiceAccountToken ?? true) this.#mountToken(spec)
    if ((spec.imagePullSecrets ?? []).length === 0 && (account.imagePullSecrets ?? []).length > 0)
      spec.imagePullSecrets = account.imagePullSecrets!.map(({ name = '' }) => ({ name }))
  }

  async validate(attributes: AdmissionAttributes<Pod>): Promise<void> {
    const { object: pod = {} } = attributes
    const { spec } = pod
    if (spec === undefined) return
    if (attributes.operation === 'CREATE' && isMirror(pod)) return refuseReferences(attributes, pod)
    const { serviceAccountName = '' } = spec
    if (serviceAccountName === '')
      throw forbid(attributes, `no service account specified for pod ${attributes.namespace}/${attributes.name}`)
    const account = await this.#account(attributes, serviceAccountName)
    if (metadataOf(account).annotations?.[ENFORCE_SECRETS] === 'true') refuseOtherSecrets(attributes, spec, account)
  }

  async #account(attributes: AdmissionAttributes<Pod>, name: string): Promise<ServiceAccountKind> {
    const { namespace, dryRun } = attributes
    const find = async (): Promise<ServiceAccountKind | undefined> =>
      (await this.#objects.get(SERVICE_ACCOUNTS, namespace, name)) ??
      (await this.#objects.getLive(SERVICE_ACCOUNTS, namespace, name))
    const found = await find()
    if (found !== undefined) return found
    if (name === DEFAULT) {
      const made = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace } }
      if (dryRun) return made
      await this.#writer.createIfAbsent(SERVICE_ACCOUNTS, namespace, made)
      return (await find()) ?? made
    }
    throw forbid(
      attributes,
      `error looking up service account ${namespace}/${name}: serviceaccount ${JSON.stringify(name)} not found`,
    )
  }

  /** A volume with token, authority and namespace, in every container that has nothing in that place. */
  #mountToken(spec: PodSpec): void {
    const known = spec.volumes?.find((volume) => volume.name?.startsWith(`${VOLUME}-`))?.name
    const name = known ?? `${VOLUME}-${this.#suffix()}`
    let needed = false
    for (const container of [...(spec.initContainers ?? []), ...(spec.containers ?? [])]) {
      if (container.volumeMounts?.some((mount) => mount.mountPath === MOUNT_PATH)) continue
      container.volumeMounts = [...(container.volumeMounts ?? []), { name, readOnly: true, mountPath: MOUNT_PATH }]
      needed = true
    }
    if (!needed || known !== undefined) return
    spec.volumes = [...(spec.volumes ?? []), { name, projected: tokenSources() }]
  }

  #suffix(): string {
    return Array.from({ length: 5 }, () => NAME_LETTERS[Math.floor(this.#random() * NAME_LETTERS.length)]).join('')
  }
}

const isMirror = (pod: Pod): boolean => metadataOf(pod).annotations?.[MIRROR] !== undefined

const tokenSources = (): ProjectedVolumeSource => ({
  defaultMode: 0o644,
  sources: [
    { serviceAccountToken: { expirationSeconds: TOKEN_SECONDS, path: 'token' } },
    { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
    {
      downwardAPI: {
        items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
      },
    },
  ],
})

/** A mirror pod shows what a kubelet runs by itself: it has nothing of the API. */
function refuseReferences(attributes: AdmissionAttributes, { spec = {} }: Pod): void {
  if ((spec.serviceAccountName ?? '') !== '')
    throw forbid(attributes, 'a mirror pod may not reference service accounts')
  if (podSecretNames(spec).length > 0) throw forbid(attributes, 'a mirror pod may not reference secrets')
  for (const volume of spec.volumes ?? []) {
    if (volume.projected?.sources?.some((source) => source.serviceAccountToken !== undefined))
      throw forbid(attributes, 'a mirror pod may not use ServiceAccountToken volume projections')
  }
}

function refuseOtherSecrets(attributes: AdmissionAttributes, spec: PodSpec, account: ServiceAccountKind): void {
  const allowed = new Set((account.secrets ?? []).map(({ name }) => name))
  const refuse = (what: string, secret: string | undefined): void => {
    if (secret === undefined || allowed.has(secret)) return
    throw forbid(
      attributes,
      `${what} referencing secret.secretName="${secret}" is not allowed because service account ${account.metadata?.name} does not reference that secret`,
    )
  }
  const isUpdate = attributes.operation === 'UPDATE'
  const containers: AnyContainer[] = isUpdate ? (spec.ephemeralContainers ?? []) : allContainers(spec)
  for (const container of containers) {
    for (const { valueFrom } of container.env ?? [])
      refuse(`container ${container.name} with envVar`, valueFrom?.secretKeyRef?.name)
    for (const { secretRef } of container.envFrom ?? [])
      refuse(`container ${container.name} with envFrom`, secretRef?.name)
  }
  if (isUpdate) return
  for (const volume of spec.volumes ?? []) refuse(`volume ${volume.name}`, volume.secret?.secretName)
  const pulls = new Set((account.imagePullSecrets ?? []).map(({ name }) => name))
  for (const [i, { name }] of (spec.imagePullSecrets ?? []).entries()) {
    if (!pulls.has(name))
      throw forbid(
        attributes,
        `imagePullSecrets[${i}].name="${name}" is not allowed because service account ${account.metadata?.name} does not reference that imagePullSecret`,
      )
  }
}
