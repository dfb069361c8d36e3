/** Thread: any. How long a connection to etcd may take, and when it is tried again. */
export const CHANNEL_DEFAULTS = {
  connectTimeoutMs: 3_000,
  /** Time between two pings; etcd refuses more than one in five seconds. */
  keepaliveIntervalMs: 10_000,
  keepaliveTimeoutMs: 5_000,
} as const

export const RECONNECT_DEFAULTS = { backoffBaseMs: 50, backoffCapMs: 2_000 } as const
