/**
 * Thread: main. Flags of kube-apiserver that mean nothing here: taken, so that a command line that is used there starts
 * this server too, and said once that they do nothing.
 */

/** The flags by name; true for those that may stand without a value. */
const FOREIGN: ReadonlyMap<string, boolean> = new Map([
  ...names(
    false,
    `admission-control allow-metric-labels allow-metric-labels-manifest apiserver-count
    audit-log-version audit-webhook-batch-initial-backoff audit-webhook-version cloud-config cloud-provider
    cloud-provider-gce-l7lb-src-cidrs cloud-provider-gce-lb-src-cidrs contention-profiling-rate cors-allowed-origins
    coordinated-leadership-lease-duration coordinated-leadership-renew-deadline coordinated-leadership-retry-period
    debug-socket-path disabled-metrics default-watch-cache-size emulated-version etcd-healthcheck-timeout
    etcd-readycheck-timeout external-hostname feature-gates goaway-chance
    kubelet-read-only-port lease-reuse-duration-seconds livez-grace-period log-dir log-file log-file-max-size
    log-flush-frequency log-json-info-buffer-size log-text-info-buffer-size logging-format master-service-namespace
    max-connection-bytes-per-sec min-compatibility-version peer-advertise-ip peer-advertise-port peer-ca-file
    service-account-signing-endpoint show-hidden-metrics-for-version shutdown-watch-termination-grace-period
    ssh-keyfile ssh-user stderrthreshold storage-initialization-timeout strict-transport-security-directives
    target-ram-mb tls-curve-preferences tls-sni-cert-key tracing-config-file v vmodule kube-api-burst kube-api-qps`,
  ),
  ...names(
    true,
    `add-dir-header alsologtostderr contention-profiling
    emulation-forward-compatible enable-logs-handler
    enable-swagger-ui experimental-encryption-provider-config-automatic-reload log-json-split-stream log-text-split-stream
    logtostderr one-output permit-address-sharing permit-port-sharing
    runtime-config-emulation-forward-compatible shutdown-send-retry-after skip-headers skip-log-headers
    unsupported-kube-api-over-localhost`,
  ),
])

/**
 * Flags that say who may come in are refused: a server that ignored them would let in others than its operator means.
 */
const REFUSED: ReadonlyMap<string, string> = new Map([
  ['authorization-policy-file', 'roles and their bindings say the same'],
])

function names(boolean: boolean, text: string): [string, boolean][] {
  return text.split(/\s+/).map((name) => [name, boolean])
}

/** Undefined when kube-apiserver has no such flag, or when this server has it too. */
export function foreignFlag(name: string): { readonly boolean: boolean } | undefined {
  const boolean = FOREIGN.get(name)
  return boolean === undefined ? undefined : { boolean }
}

/** What to use instead of a flag that is not taken. */
export const refusedFlag = (name: string): string | undefined => REFUSED.get(name)

export const foreignFlagNames = (): string[] => [...FOREIGN.keys(), ...REFUSED.keys()]
