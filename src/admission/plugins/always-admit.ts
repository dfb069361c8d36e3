/** Thread: pool. A plugin that does nothing; old command lines name it. */
import type { AdmissionPlugin } from '../chain.js'

export class AlwaysAdmit implements AdmissionPlugin {
  readonly name = 'AlwaysAdmit'

  handles(): boolean {
    return false
  }
}
