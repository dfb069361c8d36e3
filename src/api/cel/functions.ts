/** Thread: any. Functions of the language and of Kubernetes' libraries: on what they are called and what they give. */
import {
  BOOL,
  type CelType,
  DYN,
  INT,
  listOf,
  type OpaqueType,
  opaque,
  type ScalarType,
  STRING,
  scalar,
} from './types.js'

/** A kind of type, or the name of an opaque one. */
type Receiver = ScalarType | 'list' | 'map' | 'optional' | OpaqueType

interface Overload {
  /** Undefined: any. */
  readonly on?: readonly Receiver[]
  readonly gives: CelType
}

const DOUBLE = scalar('double')
const BYTES = scalar('bytes')
const TIMESTAMP = scalar('timestamp')
const DURATION = scalar('duration')
const QUANTITY = opaque('quantity')

/** Called by their names alone; those with a dot are in a namespace. */
export const GLOBAL_FUNCTIONS: ReadonlyMap<string, CelType> = new Map([
  ['size', INT],
  ['int', INT],
  ['uint', scalar('uint')],
  ['double', DOUBLE],
  ['string', STRING],
  ['bytes', BYTES],
  ['bool', BOOL],
  ['type', scalar('type')],
  ['dyn', DYN],
  ['timestamp', TIMESTAMP],
  ['duration', DURATION],
  ['matches', BOOL],
  ['url', opaque('url')],
  ['isURL', BOOL],
  ['ip', opaque('ip')],
  ['isIP', BOOL],
  ['ip.isCanonical', BOOL],
  ['cidr', opaque('cidr')],
  ['isCIDR', BOOL],
  ['quantity', QUANTITY],
  ['isQuantity', BOOL],
  ['semver', opaque('semver')],
  ['isSemver', BOOL],
  ['sets.contains', BOOL],
  ['sets.equivalent', BOOL],
  ['sets.intersects', BOOL],
  ['optional.of', DYN],
  ['optional.none', DYN],
  ['optional.ofNonZeroValue', DYN],
  ['strings.quote', STRING],
  ['jsonpatch.escapeKey', STRING],
  ['format.named', DYN],
  ...['dns1123Label', 'dns1123Subdomain', 'dns1035Label', 'qualifiedName', 'dns1123LabelPrefix'].map(
    (name) => [`format.${name}`, opaque('format')] as const,
  ),
  ...['dns1123SubdomainPrefix', 'dns1035LabelPrefix', 'labelValue', 'uri', 'uuid', 'byte', 'date', 'datetime'].map(
    (name) => [`format.${name}`, opaque('format')] as const,
  ),
])

const on = (gives: CelType, ...receivers: Receiver[]): Overload => ({ gives, on: receivers })
const members = (names: readonly string[], overload: Overload): [string, Overload[]][] =>
  names.map((name) => [name, [overload]])

/** Called on a value. */
export const MEMBER_FUNCTIONS: ReadonlyMap<string, readonly Overload[]> = new Map<string, readonly Overload[]>([
  ...members(['startsWith', 'endsWith', 'matches'], on(BOOL, 'string')),
  ...members(
    ['charAt', 'lowerAscii', 'upperAscii', 'replace', 'substring', 'trim', 'format', 'reverse'],
    on(STRING, 'string'),
  ),
  ...members(['find'], on(STRING, 'string')),
  ...members(['findAll', 'split'], on(listOf(STRING), 'string')),
  ...members(['join'], on(STRING, 'list')),
  ...members(['isSorted'], on(BOOL, 'list')),
  ...members(['sum', 'min', 'max', 'first', 'last', 'slice', 'flatten', 'distinct', 'sort'], on(DYN, 'list')),
  ['contains', [on(BOOL, 'string')]],
  ['size', [on(INT, 'string', 'bytes', 'list', 'map')]],
  ['indexOf', [on(INT, 'string', 'list')]],
  ['lastIndexOf', [on(INT, 'string', 'list')]],
  ...members(
    ['getFullYear', 'getMonth', 'getDate', 'getDayOfMonth', 'getDayOfWeek', 'getDayOfYear'],
    on(INT, 'timestamp'),
  ),
  ...members(['getHours', 'getMinutes', 'getSeconds', 'getMilliseconds'], on(INT, 'timestamp', 'duration')),
  ...members(['getScheme', 'getHost', 'getHostname', 'getPort', 'getEscapedPath'], on(STRING, 'url')),
  ['getQuery', [on(DYN, 'url')]],
  ['family', [on(INT, 'ip')]],
  ...members(
    ['isUnspecified', 'isLoopback', 'isLinkLocalMulticast', 'isLinkLocalUnicast', 'isGlobalUnicast'],
    on(BOOL, 'ip'),
  ),
  ...members(['containsIP', 'containsCIDR'], on(BOOL, 'cidr')),
  ['ip', [on(opaque('ip'), 'cidr')]],
  ['masked', [on(opaque('cidr'), 'cidr')]],
  ['prefixLength', [on(INT, 'cidr')]],
  ['sign', [on(INT, 'quantity')]],
  ['isInteger', [on(BOOL, 'quantity')]],
  ['asInteger', [on(INT, 'quantity')]],
  ['asApproximateFloat', [on(DOUBLE, 'quantity')]],
  ...members(['add', 'sub'], on(QUANTITY, 'quantity')),
  ...members(['isGreaterThan', 'isLessThan'], on(BOOL, 'quantity', 'semver')),
  ['compareTo', [on(INT, 'quantity', 'semver')]],
  ...members(['major', 'minor', 'patch'], on(INT, 'semver')),
  ['validate', [on(DYN, 'format')]],
  ['hasValue', [on(BOOL, 'optional')]],
  ...members(['value', 'orValue', 'or', 'optMap', 'optFlatMap'], on(DYN, 'optional')),
  ['path', [on(opaque('authorizer.path'), 'authorizer')]],
  ['serviceAccount', [on(opaque('authorizer'), 'authorizer')]],
  ['group', [on(opaque('authorizer.group'), 'authorizer')]],
  ['resource', [on(opaque('authorizer.resource'), 'authorizer.group')]],
  ...members(
    ['subresource', 'namespace', 'name', 'fieldSelector', 'labelSelector'],
    on(opaque('authorizer.resource'), 'authorizer.resource'),
  ),
  ['check', [on(opaque('authorizer.decision'), 'authorizer.path', 'authorizer.resource')]],
  ...members(['allowed', 'errored'], on(BOOL, 'authorizer.decision')),
  ...members(['reason', 'error'], on(STRING, 'authorizer.decision')),
])

/** The type of a call on a value; undefined when there is no such function for it. */
export function memberResult(name: string, receiver: CelType): CelType | undefined {
  const overloads = MEMBER_FUNCTIONS.get(name) ?? []
  if (receiver.kind === 'dyn')
    return overloads.length === 1 ? overloads[0]!.gives : overloads.length > 0 ? DYN : undefined
  const key = receiver.kind === 'opaque' ? receiver.name : receiver.kind
  const found = overloads.find(({ on: receivers }) => receivers === undefined || receivers.some((one) => one === key))
  if (found === undefined) return undefined
  const unwraps = receiver.kind === 'optional' && (name === 'value' || name === 'orValue')
  return unwraps ? receiver.of : found.gives
}
