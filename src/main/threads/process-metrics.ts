/** Thread: main. The metrics that do not change while the server runs: its build and its features. */
import { lookupTable } from '../../lib/lookup-table.js'
import { processFamilies } from '../../metrics/families.js'
import type { Recorder } from '../../metrics/recorder.js'
import { SERVER_VERSION } from '../paths/server-version.js'

/** Kubernetes' feature gates for what this server does, with their stage in the release it stands for; '' is stable. */
const FEATURES: Readonly<Record<string, string>> = lookupTable({
  ListFromCacheSnapshot: 'BETA',
  MultiCIDRServiceAllocator: '',
  WatchList: 'BETA',
})

export function recordProcess(recorder: Recorder): void {
  const { major, minor, gitVersion, goVersion, platform } = SERVER_VERSION
  recorder.series(processFamilies.buildInfo, major, minor, gitVersion, '', '', '', goVersion, 'v8', platform).set(1)
  for (const [name, stage] of Object.entries(FEATURES)) recorder.series(processFamilies.feature, name, stage).set(1)
}
