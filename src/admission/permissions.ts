/** Thread: pool. What plugins ask of an authorizer. */

import type { UserInfo } from '../api/user-info.js'
import type { Attributes, Authorizer } from '../auth/interface.js'

const MASTERS = 'system:masters'

type Question = Pick<Attributes, 'verb' | 'apiGroup' | 'resource' | 'name'> &
  Partial<Pick<Attributes, 'namespace' | 'apiVersion' | 'subresource'>>

export class Permissions {
  readonly #authorizer: Authorizer | undefined

  /** Without an authorizer only masters pass: a check that cannot be made has not been passed. */
  constructor(authorizer: Authorizer | undefined) {
    this.#authorizer = authorizer
  }

  async may(user: UserInfo, question: Question): Promise<boolean> {
    if (this.#authorizer === undefined) return user.groups.includes(MASTERS)
    const verdict = await this.#authorizer.authorize({
      user,
      isResourceRequest: true,
      namespace: '',
      apiVersion: '*',
      subresource: '',
      path: '',
      ...question,
    })
    return verdict.decision === 'allow'
  }

  /** Whether the user may act for the signer, by the signer's own name or by all names of its domain. */
  async maySign(user: UserInfo, verb: 'approve' | 'sign' | 'attest', signerName: string): Promise<boolean> {
    const ask = (name: string): Promise<boolean> =>
      this.may(user, { verb, apiGroup: 'certificates.k8s.io', resource: 'signers', name })
    return (await ask(signerName)) || (await ask(`${signerName.split('/')[0]}/*`))
  }
}
