/** Thread: any. Kinds that are on their way out: every request to them is told so. */
import { lookupTable } from '../lib/lookup-table.js'
import type { GroupVersionKind } from './group-version.js'

const DEPRECATED: Readonly<Record<string, string>> = lookupTable({
  '/v1/ComponentStatus': 'v1 ComponentStatus is deprecated in v1.19+',
  '/v1/Endpoints': 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice',
})

export const deprecationOf = ({ group, version, kind }: GroupVersionKind): string | undefined =>
  DEPRECATED[`${group}/${version}/${kind}`]
