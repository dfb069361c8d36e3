/** Thread: any. The names of the plugins in the order in which they run, and which of them are on by default. */

/** The order is kube-apiserver's. */
export const ORDERED_PLUGINS = [
  'AlwaysAdmit',
  'NamespaceAutoProvision',
  'NamespaceLifecycle',
  'NamespaceExists',
  'LimitPodHardAntiAffinityTopology',
  'LimitRanger',
  'ServiceAccount',
  'NodeRestriction',
  'TaintNodesByCondition',
  'AlwaysPullImages',
  'PodSecurity',
  'PodNodeSelector',
  'Priority',
  'DefaultTolerationSeconds',
  'PodTolerationRestriction',
  'EventRateLimit',
  'ExtendedResourceToleration',
  'DefaultStorageClass',
  'StorageObjectInUseProtection',
  'OwnerReferencesPermissionEnforcement',
  'PersistentVolumeClaimResize',
  'RuntimeClass',
  'CertificateApproval',
  'CertificateSigning',
  'ClusterTrustBundleAttest',
  'CertificateSubjectRestriction',
  'DefaultIngressClass',
  'DenyServiceExternalIPs',
  'PodTopologyLabels',
  'NodeDeclaredFeatureValidator',
  'PodResizeValidator',
  'MutatingAdmissionPolicy',
  'MutatingAdmissionWebhook',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionWebhook',
  'ResourceQuota',
  'AlwaysDeny',
] as const

export type PluginName = (typeof ORDERED_PLUGINS)[number]

/** Plugins that kube-apiserver knows and this server does not have: they can be turned off, and not on. */
const ABSENT: ReadonlySet<string> = new Set(['ImagePolicyWebhook', 'PodGroupProtection'])

/** The defaults of kube-apiserver. */
const DEFAULT_ON: ReadonlySet<PluginName> = new Set<PluginName>([
  'NamespaceLifecycle',
  'LimitRanger',
  'ServiceAccount',
  'TaintNodesByCondition',
  'PodSecurity',
  'Priority',
  'DefaultTolerationSeconds',
  'DefaultStorageClass',
  'StorageObjectInUseProtection',
  'PersistentVolumeClaimResize',
  'RuntimeClass',
  'CertificateApproval',
  'CertificateSigning',
  'ClusterTrustBundleAttest',
  'CertificateSubjectRestriction',
  'DefaultIngressClass',
  'PodTopologyLabels',
  'NodeDeclaredFeatureValidator',
  'PodResizeValidator',
  'MutatingAdmissionPolicy',
  'MutatingAdmissionWebhook',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionWebhook',
  'ResourceQuota',
])

const NAMES: ReadonlySet<string> = new Set(ORDERED_PLUGINS)

/** What is wrong with the values of --enable-admission-plugins and --disable-admission-plugins. */
export function pluginNameErrors(enable: readonly string[], disable: readonly string[]): string[] {
  const known = ORDERED_PLUGINS.join(', ')
  const errors: string[] = []
  for (const name of enable) {
    if (ABSENT.has(name)) errors.push(`--enable-admission-plugins: ${name} is not available; there are ${known}`)
    else if (!NAMES.has(name))
      errors.push(`--enable-admission-plugins: ${JSON.stringify(name)} is unknown; there are ${known}`)
  }
  for (const name of disable) {
    if (!NAMES.has(name) && !ABSENT.has(name))
      errors.push(`--disable-admission-plugins: ${JSON.stringify(name)} is unknown; there are ${known}`)
    if (enable.includes(name))
      errors.push(`${name} is both in --enable-admission-plugins and --disable-admission-plugins`)
  }
  return errors
}

export function enabledPlugins(enable: readonly string[], disable: readonly string[]): PluginName[] {
  return ORDERED_PLUGINS.filter((name) => (DEFAULT_ON.has(name) || enable.includes(name)) && !disable.includes(name))
}
