import { connect, type Socket } from 'node:net'

export interface RawAnswer {
  /** 0: the connection was closed without an answer. */
  readonly status: number
  readonly text: string
}

const ANSWER_END = '\r\n\r\n'

/**
 * Sends bytes as they are, right or wrong, and gives what comes back: an answer by its Content-Length, or whatever came
 * until the server closed. `finish`: says that nothing more comes, as a client does whose request was cut off.
 */
export function sendRaw(url: string, request: string | Buffer, finish = false): Promise<RawAnswer> {
  return new Promise((resolve) => {
    const socket = open(url)
    let text = ''
    const done = (): void => {
      socket.destroy()
      resolve({ status: Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0), text })
    }
    socket.setEncoding('latin1')
    socket.on('data', (chunk: string) => {
      text += chunk
      if (isWhole(text)) done()
    })
    socket.on('error', done)
    socket.on('close', done)
    socket.on('connect', () => {
      socket.write(request)
      if (finish) socket.end()
    })
  })
}

export function open(url: string): Socket {
  const { hostname, port } = new URL(url)
  return connect(Number(port), hostname)
}

function isWhole(text: string): boolean {
  const end = text.indexOf(ANSWER_END)
  if (end < 0) return false
  const length = /content-length: (\d+)/i.exec(text.slice(0, end))
  return length !== null && text.length >= end + ANSWER_END.length + Number(length[1])
}
