import net from 'node:net'

export interface CuttingProxyOptions {
  readonly targetPort: number
  readonly random: () => number
  /** Connections are cut after a random number of the server's bytes, spread evenly over the powers of two up to this. */
  readonly maxBytes: number
  /** Later connections are left alone, but for cutAll. */
  readonly maxCuts: number
}

/** A quarter of the connections does not get far: HTTP/2's preface, the first headers, parts of a message. */
const SHORT_SHARE = 0.25
const SHORT_BYTES = 2048

/** Forwards to a server on loopback and cuts connections in the middle of whatever they carry. */
export class CuttingProxy {
  readonly #options: CuttingProxyOptions
  readonly #server: net.Server
  readonly #pairs = new Set<{ client: net.Socket; upstream: net.Socket }>()
  cuts = 0

  private constructor(options: CuttingProxyOptions) {
    this.#options = options
    this.#server = net.createServer((client) => this.#accept(client))
  }

  static async start(options: CuttingProxyOptions): Promise<CuttingProxy> {
    const proxy = new CuttingProxy(options)
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve))
    return proxy
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.#server.address() as net.AddressInfo).port}`
  }

  cutAll(): void {
    for (const pair of this.#pairs) this.#cut(pair)
  }

  async stop(): Promise<void> {
    for (const { client, upstream } of this.#pairs) {
      client.destroy()
      upstream.destroy()
    }
    await new Promise<void>((resolve) => this.#server.close(() => resolve()))
  }

  #accept(client: net.Socket): void {
    const { targetPort, random, maxBytes, maxCuts } = this.#options
    const upstream = net.connect(targetPort, '127.0.0.1')
    const pair = { client, upstream }
    this.#pairs.add(pair)
    let budget =
      random() < SHORT_SHARE
        ? 1 + Math.floor(random() * SHORT_BYTES)
        : Math.floor(SHORT_BYTES * 2 ** (random() * Math.log2(maxBytes / SHORT_BYTES)))
    const over = (): void => {
      this.#pairs.delete(pair)
      client.destroy()
      upstream.destroy()
    }
    for (const socket of [client, upstream]) {
      socket.on('error', over)
      socket.on('close', over)
    }
    client.pipe(upstream)
    upstream.on('data', (chunk) => {
      if (this.cuts < maxCuts && chunk.length >= budget) {
        // The client still gets the bytes up to the cut.
        client.end(chunk.subarray(0, budget), () => this.#cut(pair))
        upstream.pause()
        return
      }
      budget -= chunk.length
      if (!client.write(chunk)) {
        upstream.pause()
        client.once('drain', () => upstream.resume())
      }
    })
  }

  #cut(pair: { client: net.Socket; upstream: net.Socket }): void {
    if (!this.#pairs.delete(pair)) return
    this.cuts++
    pair.client.destroy()
    pair.upstream.destroy()
  }
}

/** A small generator, so that a failure can be run again from its seed. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
