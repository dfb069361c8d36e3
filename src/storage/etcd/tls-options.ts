/** Thread: any. How a connection to etcd is made secure. */

export interface TlsOptions {
  readonly ca?: string | Buffer
  readonly cert?: string | Buffer
  readonly key?: string | Buffer
  /** The name in the server's certificate, when it is not the host of the URL. */
  readonly serverName?: string
}
