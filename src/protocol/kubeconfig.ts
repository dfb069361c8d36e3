/** Thread: any. A server outside and the credentials that it is shown, in plain data, files read already. */

/** What the current context names, with certificates and keys as PEM. */
export interface Kubeconfig {
  readonly server: string
  readonly serverName: string | undefined
  readonly insecureSkipVerify: boolean
  /** The authority of the server; undefined for those of the system. */
  readonly ca: string | undefined
  readonly clientCertificate: string | undefined
  readonly clientKey: string | undefined
  readonly token: string | undefined
  /** The absolute path of the file that the token was read from: tokens of pods are replaced there before they end. */
  readonly tokenFile?: string | undefined
  readonly basic: { readonly username: string; readonly password: string } | undefined
}
