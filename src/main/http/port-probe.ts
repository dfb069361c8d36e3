/** Thread: any. Finds out whether a port is free by listening on it with a socket that shares it with nobody. */
import { type AddressInfo, createServer } from 'node:net'
import { lookupTable } from '../../lib/lookup-table.js'

/**
 * Why the port cannot be listened on; undefined when it can. The engine cannot tell: uWebSockets.js lets a second
 * process share a port unnoticed, and its exclusive mode refuses a port for a minute after a restart, while the kernel
 * still remembers connections of the last process.
 */
export async function portProblem(host: string, port: number): Promise<string | undefined> {
  const found = await probe(host, port)
  return typeof found === 'number' ? undefined : found
}

/**
 * A port that is free now; 0 when there is none. Threads that share a port need its number beforehand: uWebSockets.js
 * does not share a port that it has chosen itself.
 */
export async function freePort(host: string): Promise<number> {
  const found = await probe(host, 0)
  return typeof found === 'number' ? found : 0
}

const WORDS: Readonly<Record<string, string>> = lookupTable({
  EADDRINUSE: 'the port is in use; --secure-port chooses another, 0 any free one',
  EADDRNOTAVAIL: 'this host has no such address; --bind-address chooses another',
  EACCES: 'permission denied; ports from 1024 on need none',
})

/** The port that was listened on, or the reason why that failed. */
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
