/** Thread: any. Which ports are free, asked with a socket that shares with nobody. */
import { type AddressInfo, createServer } from 'node:net'

/**
 * uWebSockets.js lets a second process share a port unnoticed. Its exclusive way of listening is no help: it refuses a
 * port for a minute after a restart, while connections of the last process are still remembered.
 */
export async function isPortFree(host: string, port: number): Promise<boolean> {
  return (await probe(host, port)) !== undefined
}

/** One that is free now. uWebSockets.js shares no port that it has chosen itself. */
export async function freePort(host: string): Promise<number> {
  return (await probe(host, 0)) ?? 0
}

function probe(host: string, port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const socket = createServer()
    socket.once('error', () => resolve(undefined))
    socket.listen({ host, port, exclusive: true }, () => {
      const { port: found } = socket.address() as AddressInfo
      socket.close(() => resolve(found))
    })
  })
}
