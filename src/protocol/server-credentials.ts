/**
 * Thread: any. What the server shows and what it believes, in plain data, files read already: each thread that serves
 * connections or asks who somebody is makes its own from it.
 */
import type { UserInfo } from '../api/user-info.js'

/** uWebSockets.js reads the files itself. */
export interface TlsFiles {
  readonly certFile: string
  readonly keyFile: string
  /** All authorities of client certificates; '': clients are not asked for one. */
  readonly caFile: string
  /** OpenSSL's names; '': its own choice. */
  readonly ciphers: string
}

export interface FrontProxyHeaders {
  /** Empty: every name. */
  readonly allowedNames: readonly string[]
  readonly username: readonly string[]
  readonly uid: readonly string[]
  readonly group: readonly string[]
  readonly extraPrefixes: readonly string[]
}

export interface ServiceAccountTokenConfig {
  /** The first is what new tokens carry; all are accepted. */
  readonly issuers: readonly string[]
  /** Where the keys are found, when it is not at the issuer. */
  readonly jwksUri: string
  /** The audiences of the API; what a token gets that asks for none. */
  readonly apiAudiences: readonly string[]
  /** PEM. */
  readonly signingKey: string
  /** PEM: public keys, private keys or certificates, several in one text. Empty: that of the signing key. */
  readonly publicKeys: readonly string[]
  /** 0: no limit. */
  readonly maxExpirationSeconds: number
  /** Tokens that pods get by injection are good for a year, with a mark after the hour that they asked for. */
  readonly extendExpiration: boolean
  /** Whether tokens kept in secrets are held against their secret and account. */
  readonly lookup: boolean
}

/** Where a part of a user comes from: a claim with a text put before its values, or an expression over all claims. */
export type ClaimSource = { readonly claim: string; readonly prefix: string } | { readonly expression: string }

/** What must be true of claims or of a user; '' as message: the expression itself is named. */
export interface ExpressionRule {
  readonly expression: string
  readonly message: string
}

export type ClaimRule = { readonly claim: string; readonly requiredValue: string } | ExpressionRule

/** Of whom tokens are believed. */
export interface JwtIssuerConfig {
  readonly url: string
  /** Where its discovery document is; '' for the place under its url where it is by convention. */
  readonly discoveryUrl: string
  /** PEM; '' for the authorities of the system. */
  readonly ca: string
  /** A token must name one of them. */
  readonly audiences: readonly string[]
}

/** One issuer of JSON Web Tokens: an entry of `jwt` in --authentication-config, or all flags --oidc-* together. */
export interface JwtAuthenticatorConfig {
  readonly issuer: JwtIssuerConfig
  readonly signingAlgs: readonly string[]
  readonly claimValidationRules: readonly ClaimRule[]
  readonly username: ClaimSource
  readonly groups: ClaimSource | undefined
  readonly uid: ClaimSource | undefined
  readonly extra: readonly { readonly key: string; readonly valueExpression: string }[]
  readonly userValidationRules: readonly ExpressionRule[]
}

/** Whom somebody is taken for who shows no credentials, and for which paths; without paths for all. */
export interface NobodyConfig {
  readonly user: UserInfo
  readonly paths: readonly string[]
}

export interface WebhookTokensConfig {
  /** A kubeconfig. */
  readonly configFile: string
  /** Where the server of the kubeconfig takes reviews; '': at its own address. Otherwise that server knows all tokens, ours too. */
  readonly path: string
  readonly version: string
  readonly cacheTtlMs: number
}

export interface AuthenticationConfig {
  /** Undefined: whoever shows no credentials is refused. */
  readonly nobody: NobodyConfig | undefined
  /** PEM; '': client certificates say nothing. */
  readonly clientCa: string
  readonly frontProxy: { readonly ca: string; readonly headers: FrontProxyHeaders } | undefined
  /** The text of the CSV file; '': none. */
  readonly staticTokens: string
  readonly serviceAccounts: ServiceAccountTokenConfig
  readonly bootstrapTokens: boolean
  readonly jwt: readonly JwtAuthenticatorConfig[]
  readonly webhook: WebhookTokensConfig | undefined
}

/** The certificate that this server shows to extension API servers, PEM: who it names in headers is believed there. */
export interface ProxyCertificate {
  readonly cert: string
  readonly key: string
}

export interface ServerCredentials {
  readonly tls: TlsFiles | undefined
  /** Undefined without TLS: nobody believes a server that cannot show who it is. */
  readonly proxyCertificate: ProxyCertificate | undefined
  readonly authentication: AuthenticationConfig
}

/** What can change while the server runs: the files behind it were written anew. */
export interface RenewedCredentials {
  readonly tls: TlsFiles
  /** PEM; '' for one that is not used. */
  readonly clientCa: string
  readonly frontProxyCa: string
  /** The headers in which the front proxy names users; undefined when they are as before. */
  readonly frontProxyHeaders: FrontProxyHeaders | undefined
  readonly proxyCertificate: ProxyCertificate | undefined
}
