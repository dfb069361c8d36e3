/**
 * Thread: controllers. Every namespace has the ConfigMap `kube-root-ca.crt`, by which pods verify this server's certificate;
 * what somebody changed or deleted is put right.
 */
import type { KubeObject } from '../api/object.js'
import type { Controller } from './framework/controller.js'
import { failedWith } from './framework/controller-client.js'
import { isEnding, type Namespace } from './service-account-controller.js'

const NAME = 'kube-root-ca.crt'
const KEY = 'ca.crt'
const DESCRIPTION = 'kubernetes.io/description'
const DESCRIPTION_TEXT =
  'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.'

interface ConfigMap extends KubeObject {
  data?: Record<string, string>
}

export const rootCaCertificatePublisher: Controller = {
  name: 'root-ca-certificate-publisher-controller',
  account: 'root-ca-cert-publisher',
  requires: ['namespaces', 'configmaps'],
  start({ client, objects, settings, resource, follow, queue }) {
    // Who serves without TLS has nothing to publish.
    if (settings.rootCa === '') return
    const namespaces = resource('namespaces')
    const configMaps = resource('configmaps')
    const data = { [KEY]: settings.rootCa }
    const annotations = { [DESCRIPTION]: DESCRIPTION_TEXT }
    const work = queue({
      sync: async (name) => {
        const namespace = await objects.get<Namespace>(namespaces, { namespace: '', name })
        if (namespace === undefined || namespace.status?.phase === 'Terminating') return
        const place = { namespace: name, name: NAME }
        const found = await objects.get<ConfigMap>(configMaps, place)
        if (found !== undefined && isRight(found, settings.rootCa)) return
        try {
          if (found === undefined) await client.create(configMaps, { metadata: { ...place, annotations }, data })
          else
            await client.update(configMaps, {
              ...found,
              metadata: { ...found.metadata, annotations: { ...found.metadata?.annotations, ...annotations } },
              data,
            })
        } catch (error) {
          if (!failedWith(error, 'AlreadyExists') && !isEnding(error)) throw error
        }
      },
    })
    const look = ({ namespace, name }: { readonly namespace: string; readonly name: string }): void => {
      if (name === NAME) work.add(namespace)
    }
    follow(namespaces, { onPut: ({ name }) => work.add(name), onDelete: () => undefined })
    follow(configMaps, { onPut: look, onDelete: look })
  },
}

function isRight({ data = {}, metadata }: ConfigMap, rootCa: string): boolean {
  return (
    Object.keys(data).length === 1 && data[KEY] === rootCa && metadata?.annotations?.[DESCRIPTION] === DESCRIPTION_TEXT
  )
}
