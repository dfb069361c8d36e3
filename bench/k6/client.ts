/** Where the server is and who asks: from the environment, KEELSON_URL and KEELSON_TOKEN. */
import { fail } from 'k6'
import http, { type RefinedResponse, type ResponseType } from 'k6/http'

const URL = __ENV['KEELSON_URL'] ?? 'https://127.0.0.1:6443'
const TOKEN = __ENV['KEELSON_TOKEN'] ?? ''
export const NAMESPACE = __ENV['KEELSON_NAMESPACE'] ?? 'keelson-load'
export const PODS = `/api/v1/namespaces/${NAMESPACE}/pods`
export const CONFIGMAPS = `/api/v1/namespaces/${NAMESPACE}/configmaps`

export type Answer = RefinedResponse<ResponseType | undefined>

const headers = (contentType: string): Record<string, string> => ({
  Authorization: `Bearer ${TOKEN}`,
  'Content-Type': contentType,
})

/** `name`: requests of one kind are one series, whatever is in their path. */
export const get = (path: string, name: string, timeout = '60s'): Answer =>
  http.get(URL + path, { headers: headers('application/json'), tags: { name }, timeout })

export const post = (path: string, body: object, name: string): Answer =>
  http.post(URL + path, JSON.stringify(body), { headers: headers('application/json'), tags: { name } })

export const mergePatch = (path: string, body: object, name: string): Answer =>
  http.patch(URL + path, JSON.stringify(body), { headers: headers('application/merge-patch+json'), tags: { name } })

export const remove = (path: string, name: string): Answer =>
  http.del(URL + path, undefined, { headers: headers('application/json'), tags: { name } })

/** Many at once. */
export const postAll = (path: string, bodies: readonly object[], name: string): Answer[] =>
  http.batch(
    bodies.map((body) => ({
      method: 'POST',
      url: URL + path,
      body: JSON.stringify(body),
      params: { headers: headers('application/json'), tags: { name } },
    })),
  )

/** Nothing works without it. */
export function must(answer: Answer, ...statuses: readonly number[]): Answer {
  if (!statuses.includes(answer.status)) fail(`${answer.request.method} ${answer.url}: ${answer.status} ${answer.body}`)
  return answer
}
