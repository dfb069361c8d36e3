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
  readonly p99Ms: number | undefined
}

const CLOCK_MONOTONIC = 1
const MERGE_PATCH = 'application/merge-patch+json'

const hasH2load = spawnSync('h2load', ['--version']).error === undefined
/** 1 MiB, as Go's client has it. */
const WINDOW_BITS = '20'
export const hasWrk = spawnSync('wrk', ['--version']).error === undefined

export function generate(load: Load, folder: string): Promise<Measured> {
  return hasWrk ? wrk(load, folder) : cannon(load)
}

/**
 * Changes objects called `${url}0`, `${url}1`, … in turn; no two changes are the same, so that each is an event, and each says by the
 * machine's monotonic clock when it was sent.
 */
export interface Changes {
  readonly url: string
  readonly objects: number
  readonly seconds: number
  readonly connections: number
  readonly token: string
  /** Where the change is written: the data of a ConfigMap (default), or the annotations of anything. */
  readonly data?: 'data' | 'annotations'
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

function wrkChanges({ url, objects, data, ...rest }: Changes, folder: string): Promise<Measured> {
  const script = path.join(folder, 'change.lua')
  const [head, tail] = bracketsOf(data)
  writeFileSync(
    script,
    `wrk.headers["Content-Type"] = "${MERGE_PATCH}"
local ffi = require("ffi")
ffi.cdef("struct moment { long seconds; long nanoseconds; }; int clock_gettime(int clock, struct moment *now);")
local now = ffi.new("struct moment")
local n = 0
request = function()
  n = n + 1
  ffi.C.clock_gettime(${CLOCK_MONOTONIC}, now)
  local sent = string.format("%d%09d", tonumber(now.seconds), tonumber(now.nanoseconds))
  local body = '${head}"n":"' .. n .. '","sent":"' .. sent .. '"${tail}'
  return wrk.format("PATCH", "${new URL(url).pathname}" .. (n % ${objects}), nil, body)
end
`,
  )
  return runWrk({ ...rest, url }, script)
}

/** Over HTTP/2, with several requests at a time on each connection. Undefined where h2load is not there. */
export async function multiplex({
  url,
  seconds,
  connections,
  streams,
  token,
}: Omit<Load, 'body'> & { readonly streams: number }): Promise<Measured | undefined> {
  if (!hasH2load) return undefined
  const { stdout } = await promisify(execFile)('h2load', [
    ...['-t', '1', '-c', String(connections), '-m', String(streams), '-D', String(seconds)],
    ...['-w', WINDOW_BITS, '-W', WINDOW_BITS, '-H', `authorization: Bearer ${token}`, url],
  ])
  const number = (pattern: RegExp): number => Number(pattern.exec(stdout)?.[1] ?? 0)
  const total = number(/ (\d+) succeeded/)
  // What was under way when the time was over counts as failed there; what the server refused is told by its status.
  const failed = number(/ (\d+) 4xx/) + number(/ (\d+) 5xx/)
  return { perSecond: total / seconds, total, failed, p99Ms: undefined }
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

async function cannonChanges({ url, objects, seconds, connections, token, data }: Changes): Promise<Measured> {
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
          return { ...request, path: `${pathname}${n % objects}`, body: changed(n, data) }
        },
      },
    ],
    tlsOptions: { rejectUnauthorized: false },
  })
  return measuredBy(result)
}

const bracketsOf = (data: Changes['data']): readonly [string, string] =>
  data === 'annotations' ? ['{"metadata":{"annotations":{', '}}}'] : ['{"data":{', '}}']

function changed(n: number, data: Changes['data']): string {
  const [head, tail] = bracketsOf(data)
  return `${head}"n":"${n}","sent":"${process.hrtime.bigint()}"${tail}`
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
