/** Thread: main. The certificate that we show to kubelets, and the authority that theirs must have. */
import { readFileSync } from 'node:fs'
import http from 'node:http'
import https from 'node:https'
import type { Closable } from '../../lib/lifecycle.js'
import type { ConnectPlan } from '../../protocol/main-pool.js'

export interface TrustOptions {
  readonly caFile: string
  readonly certFile: string
  readonly keyFile: string
  readonly timeoutMs: number
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
  readonly #plain = new http.Agent({ keepAlive: true })

  constructor({ caFile, certFile, keyFile, timeoutMs }: TrustOptions) {
    this.timeoutMs = timeoutMs
    const own = certFile === '' ? {} : { cert: readFileSync(certFile), key: readFileSync(keyFile) }
    const verified: TlsIdentity =
      caFile === '' ? { rejectUnauthorized: false } : { ca: readFileSync(caFile), rejectUnauthorized: true }
    this.#identities = {
      kubelet: { ...own, ...verified },
      'kubelet-unverified': { ...own, rejectUnauthorized: false },
      workload: { rejectUnauthorized: false },
    }
    const agent = (trust: ConnectPlan['trust']): https.Agent =>
      new https.Agent({ keepAlive: true, ...this.#identities[trust] })
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

  close(): void {
    this.#plain.destroy()
    for (const agent of Object.values(this.#agents)) agent.destroy()
  }
}
