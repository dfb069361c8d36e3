/**
 * Thread: main. The bytes that clients have sent to relayed WebSockets and that the other side has not taken.
 * uWebSockets.js cannot stop reading from a WebSocket, so all of them wait in memory: within a limit for each session
 * and one for all together. A client that sends when its session is at a limit is disconnected. A session that holds
 * little is never disconnected for what others hold.
 */

const MEBIBYTE = 1024 * 1024
/**
 * The limit of a session: kubectl copies files as fast as its connection takes them, and a kubelet may fall behind by
 * so much.
 */
const SESSION_BYTES = 16 * MEBIBYTE
const ALL_BYTES = 64 * MEBIBYTE
/** So much every session may hold, whatever others hold. */
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
  /**
   * False when no more may wait. A message is let in while the bytes before it are within the limits, however long it
   * is itself.
   */
  add(bytes: number): boolean
  taken(bytes: number): void
  /** The session is over: its bytes wait no longer. */
  end(): void
}

export class WaitingBytes {
  readonly #limits: WaitingLimits
  #bytes = 0

  constructor(limits: WaitingLimits = { sessionBytes: SESSION_BYTES, allBytes: ALL_BYTES, sureBytes: SURE_BYTES }) {
    this.#limits = limits
  }

  /** The bytes of all sessions together. */
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
