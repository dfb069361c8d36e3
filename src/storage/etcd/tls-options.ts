/** Thread: any. How a connection to etcd is made secure. */
import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import { type Logger, nullLogger } from '../../lib/logger.js'
import type { TransportConfig } from '../factory/storage-config.js'

export interface TlsOptions {
  readonly ca?: string | Buffer
  readonly cert?: string | Buffer
  readonly key?: string | Buffer
  /** The name in the server's certificate, when it is not the host of the URL. */
  readonly serverName?: string
}

/** Asked at each new connection: certificates end and are replaced while the server runs. */
export type TlsSource = () => TlsOptions

/**
 * Undefined when no file is named: the connection then trusts what Node trusts. Files that cannot be read now are an error; later, or while
 * certificate and key do not go together because one of them is still to be written, the ones before are used.
 */
export function loadTlsOptions(transport: TransportConfig, logger: Logger = nullLogger): TlsSource | undefined {
  const { trustedCaFile, certFile, keyFile } = transport
  if (trustedCaFile === '' && certFile === '' && keyFile === '') return undefined
  let good = read(transport)
  createSecureContext(good)
  return () => {
    try {
      const now = read(transport)
      if (!isSame(now, good)) {
        createSecureContext(now)
        good = now
      }
    } catch (error) {
      logger.warn(
        { err: error, certFile, keyFile, trustedCaFile },
        'the files for TLS to etcd cannot be used, those before are',
      )
    }
    return good
  }
}

const read = ({ trustedCaFile, certFile, keyFile }: TransportConfig): TlsOptions => ({
  ...(trustedCaFile === '' ? {} : { ca: readFileSync(trustedCaFile) }),
  ...(certFile === '' ? {} : { cert: readFileSync(certFile) }),
  ...(keyFile === '' ? {} : { key: readFileSync(keyFile) }),
})

const isSame = (one: TlsOptions, other: TlsOptions): boolean =>
  (['ca', 'cert', 'key'] as const).every((part) => String(one[part]) === String(other[part]))
