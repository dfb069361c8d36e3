/**
 * A line of the network as a loopback proxy, which needs no rights: TCP from whoever connects to one port. It can hold bytes back in
 * either direction (a partition: TCP delivers them once it is healed), delay them, break connections, and break one after an exact
 * number of bytes. One line may serve several senders: whom a connection is from is told by its first bytes.
 */
import net from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

export type Direction = 'forth' | 'back'

interface Connection {
  readonly client: net.Socket
  readonly upstream: net.Socket
  sender: string | undefined
  readonly late: Readonly<Record<Direction, LateBytes>>
  /** Nothing passes any more, though it may take a moment until both ends are closed. */
  isCut: boolean
}

interface Cut {
  readonly direction: Direction
  bytes: number
}

/** The head of the first request has come, or what came is none. */
const isHeadWhole = (first: Buffer): boolean => first.includes('\r\n\r\n') || first.length > 4096

/** One direction of a connection that may be slow: what comes later is never done earlier, however the delay changes meanwhile. */
class LateBytes {
  #waiting = 0
  #dueMs = 0
  #queue: Promise<void> = Promise.resolve()

  after(delayMs: number, act: () => void): void {
    if (delayMs === 0 && this.#waiting === 0) {
      act()
      return
    }
    const dueMs = Math.max(this.#dueMs, performance.now() + delayMs)
    this.#dueMs = dueMs
    this.#waiting++
    this.#queue = this.#queue.then(async () => {
      await sleep(Math.max(0, dueMs - performance.now()))
      this.#waiting--
      act()
    })
  }
}

export class Link {
  readonly port: number
  targetPort: number
  delayMs = 0
  /** New connections are refused after they were taken: nobody is behind this line. */
  refuses = false
  readonly #server: net.Server
  readonly #connections = new Set<Connection>()
  readonly #senderOf: ((first: Buffer) => string | undefined) | undefined
  readonly #held = new Map<string, Set<Direction>>()
  #cut: Cut | undefined

  private constructor(server: net.Server, targetPort: number, senderOf?: (first: Buffer) => string | undefined) {
    this.#server = server
    this.port = (server.address() as net.AddressInfo).port
    this.targetPort = targetPort
    this.#senderOf = senderOf
  }

  static async open(targetPort: number, senderOf?: (first: Buffer) => string | undefined): Promise<Link> {
    const server = net.createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const link = new Link(server, targetPort, senderOf)
    server.on('connection', (client) => link.#connect(client))
    return link
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`
  }

  /** From now on nothing of this sender passes (everybody's when none is named), in these directions. */
  hold(directions: readonly Direction[] = ['forth', 'back'], sender = ''): void {
    this.#held.set(sender, new Set(directions))
    this.#turn()
  }

  release(sender = ''): void {
    this.#held.delete(sender)
    this.#turn()
  }

  /** The next connection that carries so many more bytes in the direction ends with the last of them. */
  cutAfter(direction: Direction, bytes: number): void {
    this.#cut = { direction, bytes }
  }

  breakAll(): void {
    for (const { client, upstream } of this.#connections) {
      client.resetAndDestroy()
      upstream.resetAndDestroy()
    }
  }

  heal(): void {
    this.delayMs = 0
    this.refuses = false
    this.#cut = undefined
    this.#held.clear()
    this.#turn()
  }

  async close(): Promise<void> {
    for (const { client, upstream } of this.#connections) {
      client.destroy()
      upstream.destroy()
    }
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #connect(client: net.Socket): void {
    if (this.refuses) return void client.resetAndDestroy()
    const upstream = net.connect(this.targetPort, '127.0.0.1')
    const connection: Connection = {
      client,
      upstream,
      sender: this.#senderOf === undefined ? '' : undefined,
      late: { forth: new LateBytes(), back: new LateBytes() },
      isCut: false,
    }
    this.#connections.add(connection)
    client.setNoDelay(true)
    upstream.setNoDelay(true)
    this.#pump(connection, 'forth')
    this.#pump(connection, 'back')
    for (const [socket, other, direction] of [
      [client, upstream, 'forth'],
      [upstream, client, 'back'],
    ] as const) {
      socket.on('error', () => other.destroy())
      socket.on('close', () => {
        this.#connections.delete(connection)
        // What it said before is still on its way.
        connection.late[direction].after(this.delayMs, () => other.destroySoon())
      })
    }
    this.#turn()
  }

  #pump(connection: Connection, direction: Direction): void {
    const [from, to] =
      direction === 'forth' ? [connection.client, connection.upstream] : [connection.upstream, connection.client]
    let first = Buffer.alloc(0)
    from.on('data', (chunk: Buffer) => {
      if (direction === 'forth' && connection.sender === undefined) {
        first = Buffer.concat([first, chunk])
        connection.sender = this.#senderOf?.(first) ?? (isHeadWhole(first) ? '' : undefined)
        if (connection.sender === undefined) return
        chunk = first
        if (this.#isHeld(connection, direction)) {
          from.pause()
          from.unshift(chunk)
          return
        }
      }
      this.#pass(chunk, to, direction, connection)
    })
    from.on('end', () => connection.late[direction].after(this.delayMs, () => to.end()))
  }

  #pass(chunk: Buffer, to: net.Socket, direction: Direction, connection: Connection): void {
    if (connection.isCut) return
    if (this.#cut?.direction === direction) {
      const part = chunk.subarray(0, this.#cut.bytes)
      this.#cut.bytes -= part.length
      if (this.#cut.bytes === 0) {
        this.#cut = undefined
        connection.isCut = true
        const destroy = (): void => {
          connection.client.destroy()
          connection.upstream.destroy()
        }
        connection.late[direction].after(this.delayMs, () => {
          if (to.writable) to.write(part, destroy)
          else destroy()
        })
        return
      }
    }
    connection.late[direction].after(this.delayMs, () => void (to.writable && to.write(chunk)))
  }

  #isHeld({ sender }: Connection, direction: Direction): boolean {
    return [sender ?? '', ''].some((one) => this.#held.get(one)?.has(direction) === true)
  }

  /** Lets every connection flow or stand as it should now. */
  #turn(): void {
    for (const connection of this.#connections) {
      for (const [socket, direction] of [
        [connection.client, 'forth'],
        [connection.upstream, 'back'],
      ] as const) {
        if (this.#isHeld(connection, direction)) socket.pause()
        else socket.resume()
      }
    }
  }
}
