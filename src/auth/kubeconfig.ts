/** Thread: any. The kubeconfig file of a webhook: whom to call, and with which credentials. */

import { readFileSync } from 'node:fs'
import type { AgentOptions } from 'node:https'
import path from 'node:path'
import type { Json, JsonObject } from '../api/object.js'
import { parseYaml, YamlError } from '../api/yaml/yaml.js'
import { trimEndOf } from '../lib/trim-end.js'
import type { Kubeconfig } from '../protocol/kubeconfig.js'

export class KubeconfigError extends Error {
  override readonly name = 'KubeconfigError'
}

/** Where a pod finds who it is. */
const POD_FOLDER = '/var/run/secrets/kubernetes.io/serviceaccount'

/** The API server of the cluster in which this server is a pod, with the credentials of the pod. Throws KubeconfigError. */
export function inClusterConfig(folder: string = POD_FOLDER): Kubeconfig {
  const read = (name: string): string => {
    try {
      return readFileSync(path.join(folder, name), 'utf8').trim()
    } catch (error) {
      throw new KubeconfigError(`this server is no pod of a cluster: ${(error as Error).message}`)
    }
  }
  return {
    server: 'https://kubernetes.default.svc',
    serverName: undefined,
    insecureSkipVerify: false,
    ca: read('ca.crt'),
    clientCertificate: undefined,
    clientKey: undefined,
    token: read('token'),
    tokenFile: path.join(folder, 'token'),
    basic: undefined,
  }
}

/** Reads the file and those that it names; paths in it are relative to it. Throws KubeconfigError. */
export function readKubeconfig(file: string): Kubeconfig {
  const folder = path.dirname(path.resolve(file))
  const read = (name: string): string => {
    try {
      return readFileSync(path.resolve(folder, name), 'utf8')
    } catch (error) {
      throw new KubeconfigError(`${file}: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  try {
    const found = parseKubeconfig(read(path.resolve(file)), read)
    return found.tokenFile === undefined ? found : { ...found, tokenFile: path.resolve(folder, found.tokenFile) }
  } catch (error) {
    if (error instanceof KubeconfigError && !error.message.startsWith(file))
      throw new KubeconfigError(`${file}: ${error.message}`)
    throw error
  }
}

/** `read` gives the text of a file that the configuration names. */
export function parseKubeconfig(text: string, read: (name: string) => string): Kubeconfig {
  const root = objectOf(parse(text), 'the file')
  const contextName = textOf(root, 'current-context')
  const contexts = named(root, 'contexts', 'context')
  const context =
    contextName === ''
      ? contexts.size === 1
        ? [...contexts.values()][0]
        : undefined
      : required(contexts.get(contextName), `context ${JSON.stringify(contextName)}`)
  const clusters = named(root, 'clusters', 'cluster')
  const clusterName = context === undefined ? '' : textOf(context, 'cluster')
  // A file for a webhook often has no more than one cluster and one user.
  const cluster = context === undefined ? [...clusters.values()][0] : clusters.get(clusterName)
  const users = named(root, 'users', 'user')
  const user = context === undefined ? undefined : users.get(textOf(context, 'user'))
  const found = required(cluster, `cluster ${JSON.stringify(clusterName)}`)
  const server = textOf(found, 'server')
  if (!/^https?:\/\//.test(server)) throw new KubeconfigError(`the server ${JSON.stringify(server)} is no http(s) URL`)
  const username = user === undefined ? '' : textOf(user, 'username')
  const tokenFile = user === undefined ? '' : textOf(user, 'tokenFile')
  const pem = (from: JsonObject | undefined, name: string): string | undefined => {
    if (from === undefined) return undefined
    const data = textOf(from, `${name}-data`)
    if (data !== '') return Buffer.from(data, 'base64').toString('utf8')
    const file = textOf(from, name)
    return file === '' ? undefined : read(file)
  }
  return {
    server: trimEndOf(server, '/'),
    serverName: textOf(found, 'tls-server-name') || undefined,
    insecureSkipVerify: found['insecure-skip-tls-verify'] === true,
    ca: pem(found, 'certificate-authority'),
    clientCertificate: pem(user, 'client-certificate'),
    clientKey: pem(user, 'client-key'),
    token: user === undefined ? undefined : tokenOf(user, read),
    ...(tokenFile === '' ? {} : { tokenFile }),
    basic: username === '' ? undefined : { username, password: user === undefined ? '' : textOf(user, 'password') },
  }
}

function tokenOf(user: JsonObject, read: (name: string) => string): string | undefined {
  const file = textOf(user, 'tokenFile')
  return (file === '' ? textOf(user, 'token') : read(file).trim()) || undefined
}

function parse(text: string): Json {
  try {
    return parseYaml(text).value
  } catch (error) {
    if (error instanceof YamlError) throw new KubeconfigError(error.message)
    throw error
  }
}

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function objectOf(value: Json | undefined, what: string): JsonObject {
  if (!isObject(value)) throw new KubeconfigError(`${what} is no kubeconfig`)
  return value
}

function textOf(object: JsonObject, name: string): string {
  const value = object[name]
  if (value === undefined || value === null) return ''
  if (typeof value !== 'string') throw new KubeconfigError(`${name} is not text`)
  return value
}

function required<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new KubeconfigError(`there is no ${what}`)
  return value
}

function named(root: JsonObject, list: string, member: string): Map<string, JsonObject> {
  const entries = root[list] ?? []
  if (!Array.isArray(entries)) throw new KubeconfigError(`${list} is no list`)
  return new Map(
    entries.map((entry) => {
      const object = objectOf(entry, `an entry of ${list}`)
      return [textOf(object, 'name'), objectOf(object[member] ?? {}, `${member} in ${list}`)]
    }),
  )
}

/** The header that tells the server who asks. A token of a file is read anew, because it may have been replaced. */
export function tokenHeaders({ token, tokenFile, basic }: Kubeconfig): Record<string, string> {
  const current = tokenFile === undefined ? token : (readToken(tokenFile) ?? token)
  if (current !== undefined) return { authorization: `Bearer ${current}` }
  if (basic === undefined) return {}
  return { authorization: `Basic ${Buffer.from(`${basic.username}:${basic.password}`).toString('base64')}` }
}

function readToken(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim() || undefined
  } catch {
    // While somebody replaces the file the token that was read last is shown.
    return undefined
  }
}

/** The same server under a path of its own: where reviews are created. */
export const withPath = (kubeconfig: Kubeconfig, path: string): Kubeconfig => ({
  ...kubeconfig,
  server: `${kubeconfig.server}${path}`,
})

/** The options that an agent needs to reach the server over TLS. */
export function tlsOptions({
  ca,
  clientCertificate,
  clientKey,
  serverName,
  insecureSkipVerify,
}: Kubeconfig): AgentOptions {
  return {
    rejectUnauthorized: !insecureSkipVerify,
    ...(ca === undefined ? {} : { ca }),
    ...(clientCertificate === undefined ? {} : { cert: clientCertificate }),
    ...(clientKey === undefined ? {} : { key: clientKey }),
    ...(serverName === undefined ? {} : { servername: serverName }),
  }
}
