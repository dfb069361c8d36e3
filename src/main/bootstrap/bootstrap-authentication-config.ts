/**
 * Thread: main. What extension servers need to know to trust this one, in kube-system: whose client certificates it
 * accepts, and which headers of which front proxy. Several servers add what they have; what has expired goes.
 */

import { X509Certificate } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { KubeObject } from '../../api/object.js'
import { certificateBlocks } from '../../api/pem.js'
import type { AuthenticationConfig } from '../../protocol/server-credentials.js'
import type { BootstrapTask } from './bootstrap.js'
import { SYSTEM_NAMESPACES_TASK } from './bootstrap-objects.js'
import type { LoopbackClient } from './loopback-client.js'

const COLLECTION = '/api/v1/namespaces/kube-system/configmaps'
const NAME = 'extension-apiserver-authentication'
const SYNC_MS = 60_000

/** The parts of the configuration that others have to know; the files behind it may be written anew. */
export type TrustedClients = Pick<AuthenticationConfig, 'clientCa' | 'frontProxy'>

interface ConfigMap extends KubeObject {
  data?: Record<string, string>
}

export function authenticationConfig(
  client: LoopbackClient,
  trusted: () => TrustedClients,
  now: () => number,
): BootstrapTask {
  return {
    name: 'authentication for extension servers',
    after: [SYSTEM_NAMESPACES_TASK],
    everyMs: SYNC_MS,
    run: async () => {
      const found = (await client.get(`${COLLECTION}/${NAME}`)) as ConfigMap | undefined
      const had = found?.data ?? {}
      const data = combined(had, trusted(), now())
      if (isDeepStrictEqual({ ...had }, data)) return
      if (found === undefined)
        await client.create(COLLECTION, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: NAME }, data })
      else await client.update(`${COLLECTION}/${NAME}`, { ...found, data })
    },
  }
}

export function combined(
  had: Readonly<Record<string, string>>,
  { clientCa, frontProxy }: TrustedClients,
  nowMs: number,
): Record<string, string> {
  const data: Record<string, string> = {}
  const clients = certificates(`${had['client-ca-file'] ?? ''}\n${clientCa}`, nowMs)
  if (clients !== '') data['client-ca-file'] = clients
  const proxies = certificates(`${had['requestheader-client-ca-file'] ?? ''}\n${frontProxy?.ca ?? ''}`, nowMs)
  if (proxies === '') return data
  const lists: Readonly<Record<string, readonly string[]>> = {
    'requestheader-username-headers': frontProxy?.headers.username ?? [],
    'requestheader-uid-headers': frontProxy?.headers.uid ?? [],
    'requestheader-group-headers': frontProxy?.headers.group ?? [],
    'requestheader-extra-headers-prefix': frontProxy?.headers.extraPrefixes ?? [],
    'requestheader-allowed-names': frontProxy?.headers.allowedNames ?? [],
  }
  for (const [key, values] of Object.entries(lists)) {
    const all = [...new Set([...listOf(had[key]), ...values])]
    if (all.length > 0 || key !== 'requestheader-uid-headers') data[key] = JSON.stringify(all)
  }
  data['requestheader-client-ca-file'] = proxies
  return data
}

function listOf(text = '[]'): string[] {
  try {
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
  } catch {
    // Somebody wrote another value there, which is replaced.
    return []
  }
}

/** Each certificate once, without those that have expired. */
function certificates(text: string, nowMs: number): string {
  const kept = new Map<string, string>()
  for (const block of certificateBlocks(text)) {
    const certificate = parse(block)
    if (certificate !== undefined && Date.parse(certificate.validTo) > nowMs)
      kept.set(certificate.fingerprint256, `${block}\n`)
  }
  return [...kept.values()].join('')
}

function parse(block: string): X509Certificate | undefined {
  try {
    return new X509Certificate(block)
  } catch {
    // The text is no certificate, so nobody could trust it.
    return undefined
  }
}
