/**
 * Thread: main. From the configuration to what the server shows and believes: reads the files that are given, and has the
 * others made. Asked again while the server runs, it renews what is near its end and says whether anything changed.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { UserInfo } from '../../api/user-info.js'
import { ClientAuthorities } from '../../auth/authn/client-authorities.js'
import { ANONYMOUS_USER } from '../../auth/authn/request-authenticator.js'
import type {
  AuthenticationConfig,
  RenewedCredentials,
  ServerCredentials,
  TlsFiles,
} from '../../protocol/server-credentials.js'
import type { SecurityConfig } from '../flags/security-config.js'
import { adminKubeconfig } from './admin-kubeconfig.js'
import { CertificateFolder, type Pair } from './certificate-folder.js'
import { cipherList } from './cipher-suites.js'
import { isUnspecified, serverHosts } from './server-hosts.js'

/** What everybody is on plain HTTP without credentials, which is served on loopback only. */
const LOCAL_ADMIN: UserInfo = {
  name: 'system:admin',
  uid: '',
  groups: ['system:masters', 'system:authenticated'],
  extra: {},
}

export class CredentialSource {
  readonly #config: SecurityConfig
  readonly #folder: CertificateFolder
  #shown = ''

  constructor(config: SecurityConfig, now: () => number) {
    this.#config = config
    this.#folder = new CertificateFolder(config.certDir, now)
  }

  /** Throws for files that cannot be read or hold something else. */
  open(): ServerCredentials {
    const tls = this.#config.insecureHttp ? undefined : this.#tlsFiles()
    const authentication = this.#authentication()
    if (tls !== undefined) {
      checkPair(tls)
      this.#shown = this.#fingerprint(tls, authentication.clientCa, authentication.frontProxy?.ca ?? '')
    }
    return { tls, authentication }
  }

  /** What is new since the last time; undefined: nothing. Throws when files do not fit together (yet). */
  renew(): RenewedCredentials | undefined {
    if (this.#config.insecureHttp) return undefined
    const tls = this.#tlsFiles()
    const { frontProxy } = this.#config
    const clientCa = this.#clientCa()
    const frontProxyCa = frontProxy === undefined ? '' : read(frontProxy.caFile)
    const shown = this.#fingerprint(tls, clientCa, frontProxyCa)
    if (shown === this.#shown) return undefined
    checkPair(tls)
    for (const pem of [clientCa, frontProxyCa]) if (pem !== '') new ClientAuthorities(pem)
    this.#shown = shown
    return { tls, clientCa, frontProxyCa }
  }

  /** Its path; '' when client certificates are signed by others, so that none can be made. */
  writeAdminKubeconfig(port: number): string {
    const { insecureHttp, clientCaFile, host, tlsCertFile } = this.#config
    if (insecureHttp || clientCaFile !== '') return ''
    const name = isUnspecified(host) ? '127.0.0.1' : host
    const text = adminKubeconfig({
      server: `https://${name.includes(':') ? `[${name}]` : name}:${port}`,
      authorityFile: tlsCertFile === '' ? this.#folder.authorityFile : tlsCertFile,
      admin: this.#folder.admin(),
    })
    return this.#folder.write('admin.kubeconfig', text)
  }

  #tlsFiles(): TlsFiles {
    const { tlsCertFile, tlsKeyFile, minVersion, cipherSuites } = this.#config
    const pair: Pair =
      tlsCertFile === ''
        ? this.#folder.server(serverHosts(this.#config))
        : { certFile: tlsCertFile, keyFile: tlsKeyFile }
    return { ...pair, caFile: this.#authoritiesFile(), ciphers: cipherList(minVersion, cipherSuites) }
  }

  #clientCa(): string {
    const { clientCaFile } = this.#config
    if (clientCaFile !== '') return read(clientCaFile)
    this.#folder.admin()
    return read(this.#folder.authorityFile)
  }

  /** TLS takes one file. Which authority counts for what is decided after it. */
  #authoritiesFile(): string {
    const { frontProxy, clientCaFile } = this.#config
    const clientCa = this.#clientCa()
    if (frontProxy === undefined) return clientCaFile === '' ? this.#folder.authorityFile : clientCaFile
    return this.#folder.write('client-authorities.crt', `${clientCa}\n${read(frontProxy.caFile)}`, 0o644)
  }

  #fingerprint({ certFile, keyFile }: TlsFiles, clientCa: string, frontProxyCa: string): string {
    const admin = this.#config.clientCaFile === '' ? read(this.#folder.admin().certFile) : ''
    return [read(certFile), read(keyFile), clientCa, frontProxyCa, admin].join('\0')
  }

  #authentication(): AuthenticationConfig {
    const { insecureHttp, frontProxy, tokenFile, serviceAccounts, oidc } = this.#config
    const { signingKeyFile, keyFiles, ...accounts } = serviceAccounts
    return {
      nobody: this.#nobody(),
      clientCa: insecureHttp ? '' : this.#clientCa(),
      frontProxy:
        insecureHttp || frontProxy === undefined
          ? undefined
          : { ca: read(frontProxy.caFile), headers: frontProxy.headers },
      staticTokens: tokenFile === '' ? '' : read(tokenFile),
      serviceAccounts: {
        ...accounts,
        signingKey: read(signingKeyFile === '' ? this.#folder.serviceAccountKeyFile() : signingKeyFile),
        publicKeys: keyFiles.map(read),
      },
      bootstrapTokens: this.#config.bootstrapTokens,
      oidc: oidc === undefined ? undefined : { ...oidc, ca: oidc.ca === '' ? '' : read(oidc.ca) },
      webhook: this.#config.webhook,
    }
  }

  #nobody(): UserInfo | undefined {
    const { insecureHttp, tokenFile, anonymous } = this.#config
    if (insecureHttp && tokenFile === '') return LOCAL_ADMIN
    return anonymous ? ANONYMOUS_USER : undefined
  }
}

const read = (file: string): string => readFileSync(file, 'utf8')

/** While somebody replaces two files, they do not fit for a moment. */
function checkPair({ certFile, keyFile }: TlsFiles): void {
  const certificate = parsed(certFile, 'certificate', (pem) => new X509Certificate(pem))
  if (!certificate.checkPrivateKey(parsed(keyFile, 'private key', createPrivateKey)))
    throw new Error(`${keyFile} is not the key of ${certFile}`)
}

function parsed<T>(file: string, what: string, parse: (pem: string) => T): T {
  const pem = read(file)
  try {
    return parse(pem)
  } catch (cause) {
    throw new Error(`${file} is no ${what} (PEM)`, { cause })
  }
}
