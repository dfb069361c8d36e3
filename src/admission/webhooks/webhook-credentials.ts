/**
 * Thread: any. With what this server authenticates to webhooks: the users of the kubeconfig that
 * `--admission-control-config-file` names, found by the host of the webhook as kube-apiserver finds them.
 */
import { isJsonObject, type Json, type JsonObject } from '../../api/object.js'
import type { WebhookCredentials, WebhookUsers } from '../../protocol/webhook-users.js'

export const NO_USERS: WebhookUsers = { byName: {}, current: '' }

/** `target` is host:port. By name, then by `*.rest.of.the.name`, without the port 443, by `*`, by the current context. */
export function credentialsFor(users: WebhookUsers, target: string): WebhookCredentials {
  const named = (name: string): WebhookCredentials | undefined =>
    Object.hasOwn(users.byName, name) ? users.byName[name] : undefined
  const exact = named(target)
  if (exact !== undefined) return exact
  const steps = target.split('.')
  for (let i = 1; i < steps.length; i++) {
    const starred = named(`*.${steps.slice(i).join('.')}`)
    if (starred !== undefined) return starred
  }
  if (target.endsWith(':443')) return credentialsFor(users, target.slice(0, -':443'.length))
  return named('*') ?? named(users.current) ?? {}
}

/** The users of a parsed kubeconfig; `read` gives the text of a file that it names. */
export function webhookUsersOf(root: JsonObject, read: (file: string) => string): WebhookUsers {
  const list = (name: string): JsonObject[] => {
    const value = root[name]
    return Array.isArray(value) ? value.filter((entry): entry is JsonObject => isJsonObject(entry)) : []
  }
  const current = list('contexts').find((entry) => entry['name'] === root['current-context'])?.['context']
  return {
    byName: Object.fromEntries(list('users').map((entry) => [text(entry['name']), credentials(entry['user'], read)])),
    current: isJsonObject(current) ? text(current['user']) : '',
  }
}

const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '')

function credentials(user: Json | undefined, read: (file: string) => string): WebhookCredentials {
  if (!isJsonObject(user)) return {}
  const pem = (name: string): string => {
    const data = text(user[`${name}-data`])
    if (data !== '') return Buffer.from(data, 'base64').toString()
    const file = text(user[name])
    return file === '' ? '' : read(file)
  }
  const file = text(user['tokenFile'])
  const token = file === '' ? text(user['token']) : read(file).trim()
  const username = text(user['username'])
  const [certificate, key] = [pem('client-certificate'), pem('client-key')]
  return {
    ...(token === '' ? {} : { token }),
    ...(username === '' ? {} : { basic: Buffer.from(`${username}:${text(user['password'])}`).toString('base64') }),
    ...(certificate === '' ? {} : { certificate }),
    ...(key === '' ? {} : { key }),
  }
}
