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

export const hasWrk = spawnSync('wrk', ['--version']).error === undefined

export function generate(load: Load, folder: string): Promise<Measured> {
  return hasWrk ? wrk(load, folder) : cannon(load)
}

async function wrk({ url, seconds, connections, token, body }: Load, folder: string): Promise<Measured> {
  const script = path.join(folder, 'post.lua')
  if (body !== undefined)
    writeFileSync(
      script,
      `wrk.method = "POST"\nwrk.headers["Content-Type"] = "application/json"\nwrk.body = ${JSON.stringify(body)}\n`,
    )
  const { stdout } = await promisify(execFile)('wrk', [
    ...[
      '-t',
      '1',
      '-c',
      String(connections),
      '-d',
      `${seconds}s`,
      '--latency',
      '--timeout',
      '60s',
      '-H',
      `Authorization: Bearer ${token}`,
    ],
    ...(body === undefined ? [] : ['-s', script]),
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
  return {
    perSecond: result.requests.average,
    total: result.requests.total,
    failed: result.non2xx,
    p99Ms: result.latency.p99,
  }
}

const UNITS_MS: Readonly<Record<string, number>> = { us: 0.001, ms: 1, s: 1000, m: 60_000 }
const milliseconds = (match: RegExpExecArray | null): number =>
  match === null ? 0 : Number(match[1]) * (UNITS_MS[match[2]!] ?? 0)
