/** Thread: any. How a connection to etcd is made secure. */
import { readFileSync } from 'node:fs'
import type { TransportConfig } from '../factory/storage-config.js'

export interface TlsOptions {
  readonly ca?: string | Buffer
  readonly cert?: string | Buffer
  readonly key?: string | Buffer
  /** The name in the server's certificate, when it is not the host of the URL. */
  readonly serverName?: string
}

/** Undefined when no file is named: the connection then trusts what Node trusts. */
export function loadTlsOptions({ trustedCaFile, certFile, keyFile }: TransportConfig): TlsOptions | undefined {
  if (trustedCaFile === '' && certFile === '' && keyFile === '') return undefined
  return {
    ...(trustedCaFile === '' ? {} : { ca: readFileSync(trustedCaFile) }),
    ...(certFile === '' ? {} : { cert: readFileSync(certFile) }),
    ...(keyFile === '' ? {} : { key: readFileSync(keyFile) }),
  }
}
