/** Thread: any. With what this server authenticates to webhooks, in plain data: main reads the files, the pool uses it. */

/** What a user of the kubeconfig brings; everything is optional. Certificate and key are PEM. */
export interface WebhookCredentials {
  readonly token?: string
  /** `name:password` in base64. */
  readonly basic?: string
  readonly certificate?: string
  readonly key?: string
}

export interface WebhookUsers {
  readonly byName: Readonly<Record<string, WebhookCredentials>>
  /** The user of the current context; '' for none. */
  readonly current: string
}
