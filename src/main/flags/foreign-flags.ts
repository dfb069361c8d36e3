/**
 * Thread: main. Flags of kube-apiserver that this server does not follow, and why. Those that mean nothing here are taken, so
 * that a command line that is used there starts this server too, and each is said to do nothing. Those that would be a lie
 * are refused. docs/flags.md is made of this table.
 */

export interface ForeignFlag {
  /** A boolean may stand without a value. */
  readonly boolean: boolean
  readonly why: string
}

/** Flags of kube-apiserver v1.36 that are taken and do nothing. */
const TAKEN: ReadonlyMap<string, ForeignFlag> = new Map([
  ...texts('metrics are shown with all values of their labels', 'allow-metric-labels allow-metric-labels-manifest'),
  ...texts(
    'nobody elects leaders for other components here; candidates are stored only',
    'coordinated-leadership-lease-duration coordinated-leadership-renew-deadline coordinated-leadership-retry-period',
  ),
  ...booleans('threads share no locks that requests wait for; --profiling is for the rest', 'contention-profiling'),
  ...texts('/debug/pprof is served at the port of the server, to those who may see it', 'debug-socket-path'),
  ...texts('windows of watches size themselves; kube-apiserver ignores the flag too', 'default-watch-cache-size'),
  ...booleans('there is no /logs; the log goes to standard output', 'enable-logs-handler'),
  ...texts('/livez waits for nothing that belongs to a start', 'livez-grace-period'),
  ...texts('lines are written at once', 'log-flush-frequency log-text-info-buffer-size log-json-info-buffer-size'),
  ...booleans('everything is logged to standard output', 'log-text-split-stream log-json-split-stream'),
  ...texts('every line of the log is JSON', 'logging-format'),
  ...texts('--log-level says how much is logged', 'v vmodule'),
  ...texts(
    'requests are not passed on to servers of other versions; all serve all of the resources',
    'peer-advertise-ip peer-advertise-port peer-ca-file',
  ),
  ...booleans('an address that was just left can always be listened on', 'permit-address-sharing'),
  ...texts('no metric is hidden', 'show-hidden-metrics-for-version'),
  ...texts('watches are ended at once, in a way that clients understand', 'shutdown-watch-termination-grace-period'),
  ...texts('a start waits for its storage, however long that takes', 'storage-initialization-timeout'),
])

/** Flags that kube-apiserver had in older versions, or hides. */
const FORMER: ReadonlyMap<string, ForeignFlag> = new Map([
  ...texts(
    'kube-apiserver has no such flag any more, or hides it',
    `apiserver-count audit-webhook-batch-initial-backoff cloud-config cloud-provider cloud-provider-gce-l7lb-src-cidrs
    cloud-provider-gce-lb-src-cidrs contention-profiling-rate kubelet-read-only-port log-dir log-file log-file-max-size
    master-service-namespace ssh-keyfile ssh-user stderrthreshold target-ram-mb kube-api-burst kube-api-qps`,
  ),
  ...booleans(
    'kube-apiserver has no such flag any more, or hides it',
    `add-dir-header alsologtostderr enable-swagger-ui experimental-encryption-provider-config-automatic-reload
    logtostderr one-output skip-headers skip-log-headers unsupported-kube-api-over-localhost`,
  ),
])

/**
 * Flags that are refused. A server that ignored those that say who may come in would let in others than its operator
 * means; the others promise what nobody would keep.
 */
const REFUSED: ReadonlyMap<string, string> = new Map([
  ['authentication-config', '--oidc-*, --client-ca-file and --anonymous-auth say the same'],
  ['authorization-config', '--authorization-mode and --authorization-webhook-* say the same'],
  ['authorization-policy-file', 'roles and their bindings say the same'],
  ['service-account-signing-endpoint', 'tokens are signed here, with --service-account-signing-key-file'],
  ['tls-curve-preferences', 'the curves are those of the TLS library and cannot be chosen'],
  ['tls-sni-cert-key', 'one certificate is served, of --tls-cert-file; it may hold several names'],
])

function texts(why: string, names: string): [string, ForeignFlag][] {
  return names.split(/\s+/).map((name) => [name, { boolean: false, why }])
}

function booleans(why: string, names: string): [string, ForeignFlag][] {
  return names.split(/\s+/).map((name) => [name, { boolean: true, why }])
}

/** Undefined when kube-apiserver has no such flag, or when this server has it too. */
export const foreignFlag = (name: string): ForeignFlag | undefined => TAKEN.get(name) ?? FORMER.get(name)

/** What to use instead of a flag that is not taken. */
export const refusedFlag = (name: string): string | undefined => REFUSED.get(name)

export const foreignFlagNames = (): string[] => [...TAKEN.keys(), ...FORMER.keys(), ...REFUSED.keys()]
