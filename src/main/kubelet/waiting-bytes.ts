/**
 * Thread: main. What clients have sent to WebSockets that are passed on, and the other side has not taken. uWebSockets.js cannot
 * stop reading from a WebSocket, so all of it waits in memory: within a limit for each session and one for all together. A
 * client that sends when its session is at a limit is disconnected. A session that holds little is never disconnected for
 * what others hold.
 */

const MEBIBYTE = 1024 * 1024
/** kubectl copies files as fast as its connection takes them: a kubelet may fall behind by so much. */
const SESSION_BYTES = 16 * MEBIBYTE
const ALL_BYTES = 64 * MEBIBYTE
/** Every session's own, whatever others hold. */
const SURE_BYTES = MEBIBYTE

/** The close code for "try again later". */
export const TRY_AGAIN_LATER = 1013
export const NOT_TAKEN = 'the other side does not read what was sent'

export interface WaitingLimits {
  readonly sessionBytes: number
  readonly allBytes: number
  readonly sureBytes: number
}

export interface WaitingSession {
  /** False: no more may wait. A message is let in while what waits before it is within the limits, however long it is itself. */
  add(bytes: number): boolean
  taken(bytes: number): void
  /** What was not taken never will be. */
  end(): void
}

export class WaitingBytes {
  readonly #limits: WaitingLimits
  #bytes = 0

  constructor(limits: WaitingLimits = { sessionBytes: SESSION_BYTES, allBytes: ALL_BYTES, sureBytes: SURE_BYTES }) {
    this.#limits = limits
  }

  /** Of all sessions together. */
  get bytes(): number {
    return this.#bytes
  }

  session(): WaitingSession {
    const { sessionBytes, allBytes, sureBytes } = this.#limits
    let own = 0
    let ended = false
    const change = (bytes: number): void => {
      own += bytes
      this.#bytes += bytes
    }
    return {
      add: (bytes) => {
        if (ended || own >= sessionBytes || (own >= sureBytes && this.#bytes >= allBytes)) return false
        change(bytes)
        return true
      },
      taken: (bytes) => {
        if (!ended) change(-bytes)
      },
      end: () => {
        change(-own)
        ended = true
      },
    }
  }
}
