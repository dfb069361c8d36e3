/** Thread: any. How connections leave this server, in plain data, files read already: each thread that dials makes its own from it. */

/** To etcd; to nodes, pods and services; to everything else that is configured by address. */
export type EgressName = 'controlplane' | 'cluster' | 'etcd'

/** A proxy that opens connections for us: HTTP's CONNECT. */
export interface ConnectProxy {
  /** Where it listens. */
  readonly address: { readonly host: string; readonly port: number } | { readonly socketPath: string }
  /** How it is reached by TLS, all PEM; undefined: without. */
  readonly tls: { readonly ca: string; readonly cert: string; readonly key: string } | undefined
}

/** A name that is not there means direct connections. */
export type EgressConfig = Readonly<Partial<Record<EgressName, ConnectProxy>>>
