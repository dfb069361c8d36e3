/**
 * Thread: pool. Pods run as a service account of their namespace and get its token and its pull secrets. A controller makes
 * `default` in every namespace. Where it runs in this server, a pod that is faster makes the account itself; else the pod waits for
 * it for a moment, and is refused.
 */
import type {
  Pod,
  PodSpec,
  ProjectedVolumeSource,
  ServiceAccount as ServiceAccountKind,
} from '../../api/generated/kinds/core.v1.js'
import { metadataOf } from '../../api/object.js'
import { type Clock, pause } from '../../lib/clock.js'
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

/** So often the account `default` is looked for, every 100 to 200 ms. */
const ATTEMPTS = 10
const ATTEMPT_MS = 100

export interface ServiceAccountOptions {
  readonly objects: AdmissionObjects
  /** Makes the account `default` where it is missing; undefined when that is left to others. */
  readonly writer: AdmissionWriter | undefined
  readonly clock: Clock
  readonly random: Random
}

export class ServiceAccount implements AdmissionPlugin<Pod> {
  readonly name = 'ServiceAccount'
  readonly #options: ServiceAccountOptions

  constructor(options: ServiceAccountOptions) {
    this.#options = options
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
    const { namespace } = attributes
    const { objects } = this.#options
    const found =
      (await objects.get(SERVICE_ACCOUNTS, namespace, name)) ??
      (await objects.getLive(SERVICE_ACCOUNTS, namespace, name)) ??
      (name === DEFAULT ? await this.#defaultAccount(attributes) : undefined)
    if (found !== undefined) return found
    throw forbid(
      attributes,
      `error looking up service account ${namespace}/${name}: serviceaccount ${JSON.stringify(name)} not found`,
    )
  }

  /** The account that a new namespace is about to get. */
  async #defaultAccount({ namespace, dryRun }: AdmissionAttributes<Pod>): Promise<ServiceAccountKind | undefined> {
    const { objects, writer, clock, random } = this.#options
    const made = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: DEFAULT, namespace } }
    if (writer !== undefined) {
      if (dryRun) return made
      await writer.createIfAbsent(SERVICE_ACCOUNTS, namespace, made)
      return (await objects.getLive(SERVICE_ACCOUNTS, namespace, DEFAULT)) ?? made
    }
    for (let attempt = 1; attempt < ATTEMPTS; attempt++) {
      await pause(clock, ATTEMPT_MS * (1 + random()))
      const found = await objects.getLive(SERVICE_ACCOUNTS, namespace, DEFAULT)
      if (found !== undefined) return found
    }
    return undefined
  }

  /**
   * Adds a volume with token, authority and namespace, and mounts it in every container that has nothing at that path.
   */
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
    return Array.from({ length: 5 }, () => NAME_LETTERS[Math.floor(this.#options.random() * NAME_LETTERS.length)]).join(
      '',
    )
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

/** A mirror pod shows what a kubelet runs by itself, so it may refer to no object of the API. */
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
