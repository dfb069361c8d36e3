/** The writes among kube-apiserver's recorded answers. */
import type { Json, JsonObject } from '#keelson/api/object.js'
import { isObject } from '#keelson/workers/endpoints/patch/json-tree.js'
import { recordedSuite, recordedSuiteNames } from '../../../support/recordings/recording.js'

export interface RecordedWrite {
  readonly suite: string
  readonly id: string
  readonly method: 'POST' | 'PUT' | 'PATCH'
  /** Without its query. */
  readonly path: string
  readonly query: URLSearchParams
  readonly mediaType: string
  readonly body: Json
  readonly status: number
  readonly answer: JsonObject
}

/** Writes with a JSON body and an answer, suite by suite. */
export const recordedWrites = (match: RegExp): RecordedWrite[] => recordedSuiteNames(match).flatMap(writesOf)

function writesOf(suite: string): RecordedWrite[] {
  return recordedSuite(suite).steps.flatMap(({ id = '', method, path, headers, body, want }) => {
    if (method !== 'POST' && method !== 'PUT' && method !== 'PATCH') return []
    const answer = want?.body as Json | undefined
    if (body === undefined || want === undefined || !isObject(answer)) return []
    const [bare, query] = path.split('?', 2)
    return {
      suite,
      id,
      method,
      path: bare!,
      query: new URLSearchParams(query),
      mediaType: headers?.['content-type'] ?? 'application/json',
      body: body as Json,
      status: want.status,
      answer,
    }
  })
}
