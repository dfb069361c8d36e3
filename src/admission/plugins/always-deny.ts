/** Thread: pool. A plugin that refuses every write, for tests of clients. */
import type { AdmissionAttributes, AdmissionPlugin } from '../chain.js'
import { forbid } from '../forbid.js'

export class AlwaysDeny implements AdmissionPlugin {
  readonly name = 'AlwaysDeny'

  handles(): boolean {
    return true
  }

  admit(attributes: AdmissionAttributes): void {
    throw forbid(attributes, 'admission control is denying all modifications')
  }

  validate(attributes: AdmissionAttributes): void {
    throw forbid(attributes, 'admission control is denying all modifications')
  }
}
