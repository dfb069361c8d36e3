/**
 * Thread: pool. Webhooks that cannot work as things are: their writer is warned, and the log has a line. It is stored all the same, as
 * in Kubernetes: services and certificates may come later. kube-apiserver warns of nothing here; a dry run, which leaves nothing that
 * could fail, is answered as there. A service in a namespace that does not exist is left alone too: whole folders of manifests are
 * applied in any order.
 */
import { X509Certificate } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { WebhookClientConfig } from '../../api/generated/kinds/admissionregistration.v1.js'
import type { Service } from '../../api/generated/kinds/core.v1.js'
import { type KubeObject, metadataOf } from '../../api/object.js'
import { certificateBlocks } from '../../api/pem.js'
import { isStatusError } from '../../api/status.js'
import type { RegistryStoreHooks } from './registry-store-options.js'
import type { RESTDependencies } from './rest-dependencies.js'
import type { RequestContext } from './strategy.js'

/** The webhooks of an object, by what they are called in it. */
export type NamedClients = readonly (readonly [name: string, clientConfig: WebhookClientConfig])[]

type Options = Pick<RESTDependencies, 'endpoints' | 'logger'>

const NOTHING_TAKEN = (): void => undefined

/** Hooks of a resource whose objects name webhooks. What an update leaves as it was is not warned of again. */
export function webhookWarningHooks<K extends KubeObject>(
  options: Options,
  clientsOf: (object: K) => NamedClients,
): RegistryStoreHooks<K> {
  const warn = async (object: K, old: K | undefined, context: RequestContext) => {
    if (context.dryRun) return NOTHING_TAKEN
    const before = new Map(old === undefined ? [] : clientsOf(old))
    for (const [name, client] of clientsOf(object)) {
      if (isDeepStrictEqual(client, before.get(name))) continue
      const why = bundleFault(client) ?? (await serviceFault(client, context, options))
      if (why === undefined) continue
      context.addWarning(`webhook ${JSON.stringify(name)} cannot be called: ${why}`)
      const { name: configuration } = metadataOf(object)
      options.logger.warn(
        { resource: context.resource, configuration, webhook: name, why },
        'a webhook cannot be called',
      )
    }
    return NOTHING_TAKEN
  }
  return {
    beginCreate: (object, context) => warn(object, undefined, context),
    beginUpdate: (object, old, context) => warn(object, old, context),
  }
}

/** Undefined for a bundle that is empty, which means the authorities of the system, and for one with certificates. */
export function bundleFault({ caBundle }: WebhookClientConfig): string | undefined {
  const text = Buffer.from(caBundle ?? '', 'base64').toString()
  if (text.trim() === '') return undefined
  const blocks = certificateBlocks(text)
  return blocks.some(isCertificate) ? undefined : 'its caBundle holds no certificate'
}

function isCertificate(block: string): boolean {
  try {
    return new X509Certificate(block).subject !== undefined
  } catch {
    // What OpenSSL cannot read is no certificate.
    return false
  }
}

async function serviceFault(
  { service }: WebhookClientConfig,
  context: RequestContext,
  { endpoints }: Options,
): Promise<string | undefined> {
  if (!service) return undefined
  const { namespace = '', name = '', port = 443 } = service
  const read = async <K extends KubeObject>(
    resource: string,
    within: string,
    named: string,
  ): Promise<K | undefined> => {
    const { store } = endpoints.find({ apiGroup: '', apiVersion: 'v1', resource, subresource: '' })
    try {
      return (await store.get({ ...context, resource, namespace: within }, named, '0')) as K
    } catch (error) {
      if (isStatusError(error)) return undefined
      throw error
    }
  }
  const found = await read<Service>('services', namespace, name)
  const called = `${namespace}/${name}`
  if (found === undefined)
    return (await read('namespaces', '', namespace)) === undefined ? undefined : `there is no service ${called}`
  const { type, clusterIP = '', ports } = found.spec ?? {}
  if (type === 'ExternalName') return undefined
  if (clusterIP === '' || clusterIP === 'None') return `the service ${called} has no cluster IP`
  return (ports ?? []).some((one) => one.port === port) ? undefined : `the service ${called} has no port ${port}`
}
