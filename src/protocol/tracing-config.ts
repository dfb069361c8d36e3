/** Thread: any. How requests are traced, in plain data: main reads the file, every thread that makes spans uses it. */

export interface TracingConfig {
  /** Where the collector listens for OTLP over gRPC, without TLS. */
  readonly endpoint: CollectorEndpoint
  /** So many of a million requests are recorded, of those whose trace begins here. */
  readonly samplingRatePerMillion: number
  /** Tells this process from others like it. */
  readonly instanceId: string
}

export type CollectorEndpoint =
  | { readonly host: string; readonly port: number }
  /** A Unix socket. */
  | { readonly path: string }
