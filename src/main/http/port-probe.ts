/** Thread: any. Which ports are free, asked with a socket that shares with nobody. */
import { type AddressInfo, createServer } from 'node:net'
import { lookupTable } from '../../lib/lookup-table.js'

/**
 * uWebSockets.js lets a second process share a port unnoticed. Its exclusive way of listening is no help: it refuses a
 * port for a minute after a restart, while connections of the last process are still remembered.
 */
export async function portProblem(host: string, port: number): Promise<string | undefined> {
  const found = await probe(host, port)
  return typeof found === 'number' ? undefined : found
}

/** One that is free now. uWebSockets.js shares no port that it has chosen itself. */
export async function freePort(host: string): Promise<number> {
  const found = await probe(host, 0)
  return typeof found === 'number' ? found : 0
}

const WORDS: Readonly<Record<string, string>> = lookupTable({
  EADDRINUSE: 'the port is in use',
  EADDRNOTAVAIL: 'this host has no such address',
  EACCES: 'permission denied',
})

/** The port, or why there is none. */
function probe(host: string, port: number): Promise<number | string> {
  return new Promise((resolve) => {
    const socket = createServer()
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(WORDS[error.code ?? ''] ?? error.message))
    socket.listen({ host, port, exclusive: true }, () => {
      const { port: found } = socket.address() as AddressInfo
      socket.close(() => resolve(found))
    })
  })
}
