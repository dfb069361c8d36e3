/**
 * Thread: main. Makes of the configuration what the server shows and believes: it reads the files that are given, and
 * has the others made. Asked again while the server runs, it renews certificates near their end and says whether
 * anything changed.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { UserInfo } from '../../api/user-info.js'
import type { AuthenticationConfiguration } from '../../auth/authn/authentication-configuration.js'
import { ClientAuthorities } from '../../auth/authn/client-authorities.js'
import { ANONYMOUS_USER } from '../../auth/authn/request-authenticator.js'
import type { ChangedAuthentication } from '../../protocol/access-change.js'
import type {
  AuthenticationConfig,
  FrontProxyHeaders,
  JwtAuthenticatorConfig,
  NobodyConfig,
  ProxyCertificate,
  RenewedCredentials,
  ServerCredentials,
  TlsFiles,
} from '../../protocol/server-credentials.js'
import type { SecurityConfig } from '../flags/security-config.js'
import { adminKubeconfig } from './admin-kubeconfig.js'
import { CertificateFolder, FRONT_PROXY_NAME, type Pair } from './certificate-folder.js'
import { cipherList } from './cipher-suites.js'
import type { TrustedByCluster } from './cluster-trust.js'
import { isUnspecified, serverHosts } from './server-hosts.js'

/** The user of everybody on plain HTTP without credentials, which is served on loopback only. */
const LOCAL_ADMIN: UserInfo = {
  name: 'system:admin',
  uid: '',
  groups: ['system:masters', 'system:authenticated'],
  extra: {},
}

/** The headers in which Kubernetes' servers name users to each other. */
const FRONT_PROXY_HEADERS: FrontProxyHeaders = {
  allowedNames: [FRONT_PROXY_NAME],
  username: ['X-Remote-User'],
  uid: ['X-Remote-Uid'],
  group: ['X-Remote-Group'],
  extraPrefixes: ['X-Remote-Extra-'],
}

export class CredentialSource {
  readonly #config: SecurityConfig
  readonly #folder: CertificateFolder
  #shown = ''
  #shownHeaders = ''
  /** Whom the server before this one trusts, when there is one. */
  #cluster: TrustedByCluster = { clientCa: '', frontProxy: undefined }

  constructor(config: SecurityConfig, now: () => number) {
    this.#config = config
    this.#folder = new CertificateFolder(config.certDir, now)
  }

  /** The next open() or renew() believes these too. */
  trust(cluster: TrustedByCluster): void {
    this.#cluster = cluster
  }

  /** Throws for files that cannot be read or hold something else. */
  open(): ServerCredentials {
    const tls = this.#config.insecureHttp ? undefined : this.#tlsFiles()
    const authentication = this.#authentication()
    const proxyCertificate = this.#proxyCertificate()
    if (tls !== undefined) {
      checkPair(tls)
      this.#shown = this.#fingerprint(tls, authentication.clientCa, authentication.frontProxy?.ca ?? '')
      this.#shownHeaders = JSON.stringify(authentication.frontProxy?.headers)
    }
    return { tls, authentication, proxyCertificate }
  }

  /** What is new since the last call; undefined when nothing is. Throws when files do not fit together (yet). */
  renew(): RenewedCredentials | undefined {
    if (this.#config.insecureHttp) return undefined
    const tls = this.#tlsFiles()
    const clientCa = this.#clientCa()
    const { ca: frontProxyCa, headers } = this.#frontProxy()
    const shown = this.#fingerprint(tls, clientCa, frontProxyCa)
    const shownHeaders = JSON.stringify(headers)
    if (shown === this.#shown && shownHeaders === this.#shownHeaders) return undefined
    checkPair(tls)
    for (const pem of [clientCa, frontProxyCa]) if (pem !== '') new ClientAuthorities(pem)
    const frontProxyHeaders = shownHeaders === this.#shownHeaders ? undefined : headers
    this.#shown = shown
    this.#shownHeaders = shownHeaders
    return { tls, clientCa, frontProxyCa, frontProxyHeaders, proxyCertificate: this.#proxyCertificate() }
  }

  /** Gives the path of the file; '' when client certificates are signed by others, so that none can be made. */
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

  /** What this server's certificate is verified by (PEM); '' when it serves without TLS. */
  serverAuthority(): string {
    const { insecureHttp, tlsCertFile } = this.#config
    if (insecureHttp) return ''
    return read(tlsCertFile === '' ? this.#folder.authorityFile : tlsCertFile)
  }

  /** What the file of --authentication-config makes of authentication; undefined: there is no such file. */
  changedAuthentication(
    file: AuthenticationConfiguration | undefined,
    everythingAllowed: boolean,
  ): ChangedAuthentication {
    return { jwt: file?.jwt ?? this.#flagIssuers(), nobody: this.#nobody(file?.anonymous, everythingAllowed) }
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
    return `${read(this.#folder.authorityFile)}${this.#cluster.clientCa}`
  }

  /**
   * The file of all authorities together, because TLS takes one file. Which authority counts for what is decided later.
   */
  #authoritiesFile(): string {
    const clientCa = this.#clientCa()
    return this.#folder.write('client-authorities.crt', `${clientCa}\n${this.#frontProxy().ca}`, 0o644)
  }

  /** The authority of front proxies (PEM) and their headers: the given ones, those of the cluster, or those of the folder. */
  #frontProxy(): NonNullable<AuthenticationConfig['frontProxy']> {
    const { frontProxy } = this.#config
    if (frontProxy !== undefined) return { ca: read(frontProxy.caFile), headers: frontProxy.headers }
    if (this.#cluster.frontProxy !== undefined) return this.#cluster.frontProxy
    return { ca: read(this.#folder.frontProxyAuthorityFile), headers: FRONT_PROXY_HEADERS }
  }

  #proxyCertificate(): ProxyCertificate | undefined {
    const { insecureHttp, proxyClient, frontProxy } = this.#config
    if (proxyClient !== undefined) return { cert: read(proxyClient.certFile), key: read(proxyClient.keyFile) }
    // A certificate of our own would mean nothing to servers that trust the authority of the flags.
    if (insecureHttp || frontProxy !== undefined) return undefined
    const { certFile, keyFile } = this.#folder.frontProxy()
    return { cert: read(certFile), key: read(keyFile) }
  }

  #fingerprint({ certFile, keyFile }: TlsFiles, clientCa: string, frontProxyCa: string): string {
    const admin = this.#config.clientCaFile === '' ? read(this.#folder.admin().certFile) : ''
    const proxy = this.#proxyCertificate()?.cert ?? ''
    return [read(certFile), read(keyFile), clientCa, frontProxyCa, admin, proxy].join('\0')
  }

  #authentication(): AuthenticationConfig {
    const { insecureHttp, tokenFile, serviceAccounts, authenticationFile } = this.#config
    const { signingKeyFile, keyFiles, ...accounts } = serviceAccounts
    return {
      ...this.changedAuthentication(authenticationFile?.content, this.#config.everythingAllowed),
      clientCa: insecureHttp ? '' : this.#clientCa(),
      frontProxy: insecureHttp ? undefined : this.#frontProxy(),
      staticTokens: tokenFile === '' ? '' : read(tokenFile),
      serviceAccounts: {
        ...accounts,
        signingKey: read(signingKeyFile === '' ? this.#folder.serviceAccountKeyFile() : signingKeyFile),
        publicKeys: keyFiles.map(read),
      },
      bootstrapTokens: this.#config.bootstrapTokens,
      webhook: this.#config.webhook,
    }
  }

  #nobody(anonymous: AuthenticationConfiguration['anonymous'], everythingAllowed: boolean): NobodyConfig | undefined {
    const { insecureHttp, tokenFile } = this.#config
    if (insecureHttp && tokenFile === '') return { user: LOCAL_ADMIN, paths: [] }
    // Where everybody may do everything, clients must at least say who they are.
    if (everythingAllowed || !(anonymous?.enabled ?? this.#config.anonymous)) return undefined
    return { user: ANONYMOUS_USER, paths: anonymous?.paths ?? [] }
  }

  /** The flags --oidc-* as an issuer, with its authorities read. */
  #flagIssuers(): JwtAuthenticatorConfig[] {
    const { oidc } = this.#config
    if (oidc === undefined) return []
    const { ca } = oidc.issuer
    return [{ ...oidc, issuer: { ...oidc.issuer, ca: ca === '' ? '' : read(ca) } }]
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
