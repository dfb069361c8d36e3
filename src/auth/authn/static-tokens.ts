/** Thread: any. Tokens from a CSV file: token,user,uid,"group1,group2". */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { UserInfo } from '../../api/user-info.js'
import type { TokenAuthenticator, VerifiedToken } from './token-authenticator.js'

export class TokenFileError extends Error {
  override readonly name = 'TokenFileError'
}

const digest = (token: string): Buffer => createHash('sha256').update(token).digest()

export class StaticTokens implements TokenAuthenticator {
  readonly #users: readonly { readonly digest: Buffer; readonly user: UserInfo }[]

  private constructor(users: readonly { digest: Buffer; user: UserInfo }[]) {
    this.#users = users
  }

  /** Throws a TokenFileError that names the line. */
  static parse(text: string): StaticTokens {
    const users: { digest: Buffer; user: UserInfo }[] = []
    for (const [i, line] of text.split(/\r?\n/).entries()) {
      if (line.trim() === '' || line.startsWith('#')) continue
      const [token, name, uid, groups = ''] = fields(line)
      if (!token || !name || uid === undefined)
        throw new TokenFileError(`line ${i + 1} of the token file is not token,user,uid[,"groups"]`)
      const all = groups.split(',').filter((group) => group !== '')
      users.push({ digest: digest(token), user: { name, uid, groups: all, extra: {} } })
    }
    return new StaticTokens(users)
  }

  /** Compares the digests of all tokens, so that the time it takes shows neither their length nor their order. */
  authenticateToken(token: string): VerifiedToken | undefined {
    const wanted = digest(token)
    let found: UserInfo | undefined
    for (const entry of this.#users) if (timingSafeEqual(entry.digest, wanted)) found = entry.user
    return found === undefined ? undefined : { user: found }
  }
}

function fields(line: string): string[] {
  const found: string[] = []
  for (const match of line.matchAll(/("([^"]*)"|[^,]*)(,|$)/g)) {
    found.push((match[2] ?? match[1] ?? '').trim())
    if (match[3] === '') break
  }
  return found
}
