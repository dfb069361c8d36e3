/** Thread: main. The certificate that we show to kubelets, and the authority that theirs must have. */
import { readFileSync } from 'node:fs'
import type http from 'node:http'
import type https from 'node:https'
import { dialThrough } from '../../lib/egress/connect-tunnel.js'
import { httpAgent, httpsAgent } from '../../lib/egress/egress-agents.js'
import type { EgressConfig } from '../../lib/egress/egress-config.js'
import type { Closable } from '../../lib/lifecycle.js'
import type { ConnectPlan } from '../../protocol/main-pool.js'

export interface TrustOptions {
  readonly caFile: string
  readonly certFile: string
  readonly keyFile: string
  readonly timeoutMs: number
  /** Nodes, pods and services are reached as the cluster is. */
  readonly egress: EgressConfig
}

/** What goes into the options of a request or a connection. */
export interface TlsIdentity {
  readonly ca?: Buffer
  readonly cert?: Buffer
  readonly key?: Buffer
  readonly rejectUnauthorized: boolean
}

/** Kubelets see our certificate; what runs in pods does not, and is not verified. */
export class Trust implements Closable {
  readonly timeoutMs: number
  readonly #identities: Readonly<Record<ConnectPlan['trust'], TlsIdentity>>
  readonly #agents: Readonly<Record<ConnectPlan['trust'], https.Agent>>
  readonly #plain: http.Agent
  /** Of connections that are upgraded, and end with their request; undefined where they are direct. */
  readonly #upgrades: { readonly http: http.Agent; readonly https: https.Agent } | undefined

  constructor({ caFile, certFile, keyFile, timeoutMs, egress }: TrustOptions) {
    this.timeoutMs = timeoutMs
    const dialled = { dial: dialThrough(egress.cluster), timeoutMs }
    this.#plain = httpAgent(dialled, { keepAlive: true })
    this.#upgrades =
      dialled.dial === undefined ? undefined : { http: httpAgent(dialled, {}), https: httpsAgent(dialled, {}) }
    const own = certFile === '' ? {} : { cert: readFileSync(certFile), key: readFileSync(keyFile) }
    const verified: TlsIdentity =
      caFile === '' ? { rejectUnauthorized: false } : { ca: readFileSync(caFile), rejectUnauthorized: true }
    this.#identities = {
      kubelet: { ...own, ...verified },
      'kubelet-unverified': { ...own, rejectUnauthorized: false },
      workload: { rejectUnauthorized: false },
    }
    const agent = (trust: ConnectPlan['trust']): https.Agent =>
      httpsAgent(dialled, { keepAlive: true, ...this.#identities[trust] })
    this.#agents = {
      kubelet: agent('kubelet'),
      'kubelet-unverified': agent('kubelet-unverified'),
      workload: agent('workload'),
    }
  }

  identity(trust: ConnectPlan['trust']): TlsIdentity {
    return this.#identities[trust]
  }

  /** The agent of requests whose connection may serve others after them. */
  agent({ scheme, trust }: Pick<ConnectPlan, 'scheme' | 'trust'>): http.Agent {
    return scheme === 'https' ? this.#agents[trust] : this.#plain
  }

  /** The agent of a connection that is upgraded; undefined for a direct one, which needs none. */
  upgradeAgent({ scheme }: Pick<ConnectPlan, 'scheme'>): http.Agent | undefined {
    return this.#upgrades?.[scheme]
  }

  close(): void {
    this.#plain.destroy()
    for (const agent of Object.values(this.#agents)) agent.destroy()
  }
}
