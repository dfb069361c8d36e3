/** Where a server that was just started serves: it says so on its standard error once it does. */
import type { ChildProcess } from 'node:child_process'

export function announcedUrl(server: ChildProcess): Promise<string> {
  let said = ''
  return new Promise<string>((resolve, reject) => {
    server.stderr?.on('data', (chunk: Buffer) => {
      said += chunk.toString()
      const match = /serves (https\S+)/.exec(said)
      if (match !== null) resolve(match[1]!)
    })
    server.once('exit', (code) => reject(new Error(`the server ended with code ${code}: ${said}`)))
  })
}
