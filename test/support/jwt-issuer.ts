/** An issuer of tokens for tests: its own HTTPS server with discovery and keys, which can be changed while it runs. */
import { generateKeyPairSync } from 'node:crypto'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { JsonObject } from '#keelson/api/object.js'
import { jwkOf, type SigningKey, signJwt, verificationKey } from '#keelson/auth/authn/jwt.js'
import { signingKey } from '#keelson/auth/authn/service-account-tokens.js'
import type { TestAuthority } from './certificates.js'

/** `silent`: it takes requests and never answers; `endless`: its documents never end. */
type Mood = 'answering' | 'silent' | 'endless'

const MEGABYTE = Buffer.alloc(1 << 20, 'x')

export class JwtIssuer {
  readonly url: string
  mood: Mood = 'answering'
  /** How often each path was asked for. */
  readonly asked = new Map<string, number>()
  /** How many bytes of endless documents were taken from it. */
  sentBytes = 0
  readonly #server: Server
  #keys: SigningKey[] = [newKey()]

  private constructor(server: Server) {
    this.#server = server
    this.url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  static async start(authority: TestAuthority): Promise<JwtIssuer> {
    const { certificate, key } = await authority.sign('CN=issuer')
    const server = createServer({ cert: certificate, key })
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
    const issuer = new JwtIssuer(server)
    server.on('request', (request, response) => {
      const path = request.url ?? ''
      issuer.asked.set(path, (issuer.asked.get(path) ?? 0) + 1)
      if (issuer.mood === 'silent') return
      response.writeHead(200, { 'content-type': 'application/json' })
      if (issuer.mood === 'answering') response.end(JSON.stringify(issuer.#document(path)))
      else issuer.#flood(response)
    })
    return issuer
  }

  /** A token with these claims, signed with the newest key. */
  token(claims: JsonObject, key = this.#keys[0]!): string {
    return signJwt({ iss: this.url, aud: 'keelson', exp: Math.floor(Date.now() / 1000) + 3600, ...claims }, key)
  }

  /** Signs with a new key from now on; the old ones are no longer published. */
  rotate(): void {
    this.#keys = [newKey()]
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #document(path: string): JsonObject {
    if (path === '/keys') return { keys: this.#keys.map(({ key }) => jwkOf(verificationKey(key))) }
    return { issuer: this.url, jwks_uri: `${this.url}/keys` }
  }

  #flood(response: NodeJS.WritableStream & { destroyed?: boolean }): void {
    const more = (): void => {
      while (response.destroyed !== true && this.sentBytes < 100 * MEGABYTE.byteLength) {
        this.sentBytes += MEGABYTE.byteLength
        if (!response.write(MEGABYTE)) return void response.once('drain', more)
      }
      response.end()
    }
    more()
  }
}

const newKey = (): SigningKey => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return signingKey(privateKey.export({ type: 'pkcs8', format: 'pem' }) as string)
}
