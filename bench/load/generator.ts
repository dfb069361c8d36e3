/** Requests as fast as a server answers them: wrk when it is on the PATH, else autocannon. */

import { execFile, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import autocannon from 'autocannon'

export interface Load {
  readonly url: string
  readonly seconds: number
  readonly connections: number
  readonly token: string
  /** Of a POST. */
  readonly body?: string
}

export interface Measured {
  readonly perSecond: number
  readonly total: number
  readonly failed: number
  readonly p99Ms: number
}

const MERGE_PATCH = 'application/merge-patch+json'

export const hasWrk = spawnSync('wrk', ['--version']).error === undefined

export function generate(load: Load, folder: string): Promise<Measured> {
  return hasWrk ? wrk(load, folder) : cannon(load)
}

/** Changes objects called `${url}0`, `${url}1`, … in turn; no two changes are the same, so that each is an event. */
export interface Changes {
  readonly url: string
  readonly objects: number
  readonly seconds: number
  readonly connections: number
  readonly token: string
}

export function change(changes: Changes, folder: string): Promise<Measured> {
  return hasWrk ? wrkChanges(changes, folder) : cannonChanges(changes)
}

function wrk({ url, seconds, connections, token, body }: Load, folder: string): Promise<Measured> {
  if (body === undefined) return runWrk({ url, seconds, connections, token })
  const script = path.join(folder, 'post.lua')
  writeFileSync(
    script,
    `wrk.method = "POST"\nwrk.headers["Content-Type"] = "application/json"\nwrk.body = ${JSON.stringify(body)}\n`,
  )
  return runWrk({ url, seconds, connections, token }, script)
}

function wrkChanges({ url, objects, ...rest }: Changes, folder: string): Promise<Measured> {
  const script = path.join(folder, 'change.lua')
  writeFileSync(
    script,
    `wrk.headers["Content-Type"] = "${MERGE_PATCH}"
local n = 0
request = function()
  n = n + 1
  return wrk.format("PATCH", "${new URL(url).pathname}" .. (n % ${objects}), nil, '{"data":{"n":"' .. n .. '"}}')
end
`,
  )
  return runWrk({ ...rest, url }, script)
}

async function runWrk(
  { url, seconds, connections, token }: Pick<Load, 'url' | 'seconds' | 'connections' | 'token'>,
  script?: string,
): Promise<Measured> {
  const { stdout } = await promisify(execFile)('wrk', [
    ...['-t', '1', '-c', String(connections), '-d', `${seconds}s`, '--latency', '--timeout', '60s'],
    ...['-H', `Authorization: Bearer ${token}`],
    ...(script === undefined ? [] : ['-s', script]),
    url,
  ])
  const number = (pattern: RegExp): number => Number(pattern.exec(stdout)?.[1] ?? 0)
  return {
    perSecond: number(/Requests\/sec:\s+([\d.]+)/),
    total: number(/(\d+) requests in/),
    failed: number(/Non-2xx or 3xx responses: (\d+)/),
    p99Ms: milliseconds(/ 99%\s+([\d.]+)(us|ms|s|m)/.exec(stdout)),
  }
}

async function cannon({ url, seconds, connections, token, body }: Load): Promise<Measured> {
  const result = await autocannon({
    url,
    connections,
    duration: seconds,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { method: 'POST', body }),
    tlsOptions: { rejectUnauthorized: false },
  })
  return measuredBy(result)
}

async function cannonChanges({ url, objects, seconds, connections, token }: Changes): Promise<Measured> {
  let n = 0
  const { origin, pathname } = new URL(url)
  const result = await autocannon({
    url: origin,
    connections,
    duration: seconds,
    method: 'PATCH',
    headers: { authorization: `Bearer ${token}`, 'content-type': MERGE_PATCH },
    requests: [
      {
        setupRequest: (request) => {
          n++
          return { ...request, path: `${pathname}${n % objects}`, body: `{"data":{"n":"${n}"}}` }
        },
      },
    ],
    tlsOptions: { rejectUnauthorized: false },
  })
  return measuredBy(result)
}

const measuredBy = ({ requests, non2xx, latency }: autocannon.Result): Measured => ({
  perSecond: requests.average,
  total: requests.total,
  failed: non2xx,
  p99Ms: latency.p99,
})

const UNITS_MS: Readonly<Record<string, number>> = { us: 0.001, ms: 1, s: 1000, m: 60_000 }
const milliseconds = (match: RegExpExecArray | null): number =>
  match === null ? 0 : Number(match[1]) * (UNITS_MS[match[2]!] ?? 0)
