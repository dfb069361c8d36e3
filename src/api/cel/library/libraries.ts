/** Thread: any. Every library, and which compatibility versions know it: a row a library, as in Kubernetes' base environment. */
import type { VersionedLibrary } from '../function-declaration.js'
import { STANDARD_MACROS } from '../parse/standard-macros.js'
import { arithmetic } from './arithmetic.js'
import { authorization, authorizationSelectors } from './authorizer.js'
import { cidrs } from './cidrs.js'
import { comparisons } from './comparisons.js'
import { conversions } from './conversions.js'
import { ipAddresses } from './ip-addresses.js'
import { listExtension } from './list-extension.js'
import { lists } from './lists.js'
import { matching } from './matches.js'
import { namedFormats } from './named-formats.js'
import { optionals } from './optionals.js'
import { quantities } from './quantity.js'
import { regex } from './regex.js'
import { semver } from './semver.js'
import { sets } from './sets.js'
import { stringTests } from './string-tests.js'
import { strings } from './strings.js'
import { times } from './times.js'
import { twoVariables } from './two-variables.js'
import { urls } from './urls.js'

export const LIBRARIES: readonly VersionedLibrary[] = [
  { library: { functions: [], macros: STANDARD_MACROS }, introduced: 0 },
  { library: arithmetic, introduced: 0 },
  { library: comparisons, introduced: 0 },
  { library: conversions, introduced: 0 },
  { library: stringTests, introduced: 0 },
  { library: matching, introduced: 0 },
  { library: times, introduced: 0 },
  { library: strings, introduced: 0 },
  { library: urls, introduced: 0 },
  { library: regex, introduced: 0 },
  { library: lists, introduced: 0 },
  { library: authorization, introduced: 27 },
  { library: optionals, introduced: 28 },
  { library: quantities, introduced: 28 },
  { library: sets, introduced: 29 },
  { library: ipAddresses, introduced: 30 },
  { library: cidrs, introduced: 30 },
  { library: namedFormats, introduced: 31 },
  { library: authorizationSelectors, introduced: 31 },
  { library: twoVariables, introduced: 32 },
  { library: semver, introduced: 33 },
  { library: listExtension, introduced: 34 },
]
