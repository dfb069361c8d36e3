/**
 * What a server does in the first seconds after its start, when hardly anything of it is compiled: the time of the first creation, and
 * pods of 4 KB by the thousand over 16 connections. Tests of operators live in the first thousand.
 *
 * The client speaks HTTP over TLS sockets by itself and compares no more than the status: on a small machine a client that costs as
 * much as the server would halve what is measured. Its own code is compiled by a server before, which is not measured.
 */

import { once } from 'node:events'
import { connect, type TLSSocket } from 'node:tls'
import type { Row, Scenario } from './results.js'
import { processorSeconds, type StartedKeelson, stop, type Target } from './servers.js'
import { POD, PODS, prepare } from './workload.js'

const THOUSANDS = 4
const THOUSAND = 1000
const CONNECTIONS = 16
const STARTS = 3
const END_OF_HEAD = '\r\n\r\n'

export interface ColdFigures {
  readonly readyMs: number
  readonly firstMs: number
  /** Of each thousand in turn. */
  readonly thousands: readonly Thousand[]
}

export interface Thousand {
  readonly perSecond: number
  readonly microseconds: number | undefined
}

type Start = (name: string) => Promise<StartedKeelson>
type Measured = (scenario: Scenario, figure: Pick<Row, 'value' | 'unit'> & Partial<Row>) => void

/** The medians of some starts, each of a server with nothing stored. */
export async function measureCold(start: Start, onRow: Measured): Promise<void> {
  const figures: ColdFigures[] = []
  for (let i = -1; i < STARTS; i++) {
    const figure = await coldFigures(() => start(`cold-${i + 1}`))
    if (i >= 0) figures.push(figure)
  }
  const median = (of: (figure: ColdFigures) => number): number =>
    figures.map(of).sort((a, b) => a - b)[Math.floor(figures.length / 2)]!
  onRow('first-create', { value: median(({ firstMs }) => firstMs), unit: 'ms' })
  for (const [scenario, index] of [
    ['create-first-1000', 0],
    ['create-fourth-1000', THOUSANDS - 1],
  ] as const)
    onRow(scenario, {
      value: median(({ thousands }) => thousands[index]!.perSecond),
      unit: 'per second',
      processorMicroseconds: median(({ thousands }) => thousands[index]!.microseconds ?? Number.NaN),
    })
}

/** Starts a server, measures it from its first request on, then whatever `afterwards` does, and stops it. */
export async function coldFigures(
  start: () => Promise<StartedKeelson>,
  afterwards?: (keelson: StartedKeelson) => Promise<void>,
): Promise<ColdFigures> {
  const keelson = await start()
  try {
    const lanes = await Promise.all(Array.from({ length: CONNECTIONS }, () => Lane.open(keelson)))
    const started = performance.now()
    await lanes[0]!.post('/api/v1/namespaces', '{"metadata":{"name":"first"}}')
    const firstMs = performance.now() - started
    await prepare(keelson)
    const thousands: Thousand[] = []
    for (let i = 0; i < THOUSANDS; i++) thousands.push(await thousand(keelson, lanes))
    for (const lane of lanes) lane.close()
    await afterwards?.(keelson)
    return { readyMs: keelson.readyMs, firstMs, thousands }
  } finally {
    await stop(keelson.process)
  }
}

async function thousand({ process: server }: Target, lanes: readonly Lane[]): Promise<Thousand> {
  const before = processorSeconds(server)
  const started = performance.now()
  let left = THOUSAND
  await Promise.all(
    lanes.map(async (lane) => {
      while (left-- > 0) await lane.post(PODS, POD)
    }),
  )
  const seconds = (performance.now() - started) / 1000
  const after = processorSeconds(server)
  const used = before === undefined || after === undefined ? undefined : after - before
  return { perSecond: THOUSAND / seconds, microseconds: used && (used / THOUSAND) * 1e6 }
}

/** One connection with one request under way. */
class Lane {
  readonly #socket: TLSSocket
  readonly #head: string
  #answer: Buffer = Buffer.alloc(0)
  #answered: ((status: number) => void) | undefined

  private constructor(socket: TLSSocket, { url, token }: Target) {
    this.#socket = socket
    this.#head = `host: ${new URL(url).host}\r\nauthorization: Bearer ${token}\r\ncontent-type: application/json\r\n`
    socket.on('data', (chunk: Buffer) => this.#take(chunk))
  }

  static async open(target: Target): Promise<Lane> {
    const { hostname, port } = new URL(target.url)
    const socket = connect({
      host: hostname,
      port: Number(port),
      ALPNProtocols: ['http/1.1'],
      rejectUnauthorized: false,
    })
    socket.setNoDelay(true)
    await once(socket, 'secureConnect')
    return new Lane(socket, target)
  }

  async post(address: string, body: string): Promise<void> {
    const answered = new Promise<number>((resolve, reject) => {
      this.#answered = resolve
      this.#socket.once('error', reject)
    })
    const length = `content-length: ${Buffer.byteLength(body)}`
    this.#socket.write(`POST ${address} HTTP/1.1\r\n${this.#head}${length}${END_OF_HEAD}${body}`)
    const status = await answered
    this.#socket.removeAllListeners('error')
    if (status !== 201) throw new Error(`POST ${address}: ${status}`)
  }

  close(): void {
    this.#socket.destroy()
  }

  #take(chunk: Buffer): void {
    this.#answer = this.#answer.length === 0 ? chunk : Buffer.concat([this.#answer, chunk])
    const end = this.#answer.indexOf(END_OF_HEAD)
    if (end < 0) return
    const head = this.#answer.toString('latin1', 0, end)
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0)
    if (this.#answer.length < end + END_OF_HEAD.length + length) return
    this.#answer = Buffer.alloc(0)
    this.#answered?.(Number(head.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length)))
  }
}
