/** Thread: pool. Does nothing; a name that old command lines give. */
import type { AdmissionPlugin } from '../chain.js'

export class AlwaysAdmit implements AdmissionPlugin {
  readonly name = 'AlwaysAdmit'

  handles(): boolean {
    return false
  }
}
