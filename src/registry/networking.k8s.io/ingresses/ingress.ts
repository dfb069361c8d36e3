/** Thread: any. The shape of an Ingress as far as its rules look at it. */
import type { KubeObject } from '../../../api/object.js'
import type { List } from '../../../api/validation/checks.js'
import type { TypedReference } from '../typed-reference.js'

export interface IngressBackend {
  service?: { name?: string; port?: { name?: string; number?: number } }
  resource?: TypedReference
}

export interface HttpIngressPath {
  path?: string
  pathType?: string
  backend?: IngressBackend
}

export interface IngressRule {
  host?: string
  http?: { paths?: List<HttpIngressPath> }
}

export interface LoadBalancerIngress {
  ip?: string
  hostname?: string
}

export interface Ingress extends KubeObject {
  spec?: {
    ingressClassName?: string
    defaultBackend?: IngressBackend
    rules?: List<IngressRule>
    tls?: List<{ hosts?: List<string>; secretName?: string }>
  }
  status?: { loadBalancer?: { ingress?: List<LoadBalancerIngress> } }
}
