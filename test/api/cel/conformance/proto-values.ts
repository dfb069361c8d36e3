/** Values, types and declarations as CEL's suites write them (protobuf's JSON), and ours for them. */
import type { Extension } from '#keelson/api/cel/environment.js'
import type { FunctionDeclaration } from '#keelson/api/cel/function-declaration.js'
import {
  ANY,
  BOOL,
  BYTES,
  type CelType,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listOf,
  mapOf,
  NULL,
  opaque,
  parameter,
  STRING,
  TIMESTAMP,
  TYPE,
  typeOf,
  UINT,
} from '#keelson/api/cel/types.js'
import { Bytes } from '#keelson/api/cel/values/bytes.js'
import { isList, listItems } from '#keelson/api/cel/values/lists.js'
import { CelMap, isMap, mapGet, mapKeys } from '#keelson/api/cel/values/maps.js'
import { parseDuration, parseTimestamp } from '#keelson/api/cel/values/time-formats.js'
import { runtimeTypeName, TypeValue, valueType } from '#keelson/api/cel/values/type-value.js'
import {
  Boxed,
  CelError,
  type CelValue,
  Double,
  doubleValue,
  intValue,
  numberOf,
  Uint,
} from '#keelson/api/cel/values/value.js'
import type { ProtoJson } from './suites.js'

/** Something that only protobuf has. */
export class Unsupported extends Error {
  override readonly name = 'Unsupported'
}

const PRIMITIVES: Readonly<Record<string, CelType>> = {
  BOOL,
  INT64: INT,
  UINT64: UINT,
  DOUBLE,
  STRING,
  BYTES,
}
const MESSAGES: Readonly<Record<string, CelType>> = {
  'google.protobuf.Timestamp': TIMESTAMP,
  'google.protobuf.Duration': DURATION,
  'google.protobuf.Any': ANY,
  'google.protobuf.Value': DYN,
  'google.protobuf.Struct': mapOf(STRING, DYN),
  'google.protobuf.ListValue': listOf(DYN),
}
const WELL_KNOWN: Readonly<Record<string, CelType>> = { ANY, TIMESTAMP, DURATION }

export function protoType(json: ProtoJson): CelType {
  const [kind, content] = Object.entries(json)[0]!
  const inner = content as ProtoJson
  switch (kind) {
    case 'primitive':
      return PRIMITIVES[String(content)]!
    case 'dyn':
      return DYN
    case 'null':
      return NULL
    case 'wellKnown':
      return WELL_KNOWN[String(content)]!
    case 'listType':
      return listOf(protoType(inner.elemType as ProtoJson))
    case 'mapType':
      return mapOf(protoType(inner.keyType as ProtoJson), protoType(inner.valueType as ProtoJson))
    case 'typeParam':
      return parameter(String(content))
    case 'abstractType':
      return opaque(String(inner.name), ...((inner.parameterTypes ?? []) as ProtoJson[]).map(protoType))
    case 'type':
      return Object.keys(inner).length === 0 ? TYPE : typeOf(protoType(inner))
    case 'messageType': {
      const known = MESSAGES[String(content)]
      if (known !== undefined) return known
      throw new Unsupported(`message ${content}`)
    }
    default:
      throw new Unsupported(`${kind} ${JSON.stringify(content)}`)
  }
}

interface ProtoOverload {
  readonly overloadId: string
  readonly params?: readonly ProtoJson[]
  readonly resultType: ProtoJson
  readonly isInstanceFunction?: boolean
}

/** Functions of a test have no implementation: they are only checked. */
function functionOf(name: string, overloads: readonly ProtoOverload[]): FunctionDeclaration {
  return {
    name,
    overloads: overloads.map(({ overloadId, params = [], resultType, isInstanceFunction }) => ({
      id: overloadId,
      parameters: params.map(protoType),
      result: protoType(resultType),
      call: () => new CelError('no such overload'),
      ...(isInstanceFunction === true && { member: true as const }),
    })),
  }
}

export function declarations(typeEnv: readonly ProtoJson[]): Extension {
  const variables: Record<string, CelType> = {}
  const functions: FunctionDeclaration[] = []
  for (const declaration of typeEnv) {
    const name = String(declaration.name)
    const { ident, function: overloaded } = declaration as Readonly<Record<string, ProtoJson | undefined>>
    if (ident !== undefined) variables[name] = protoType(ident.type as ProtoJson)
    if (overloaded !== undefined) functions.push(functionOf(name, overloaded.overloads as ProtoOverload[]))
  }
  return { variables, libraries: [{ functions }] }
}

function objectValue(json: ProtoJson): CelValue {
  const text = String(json.value)
  switch (json['@type']) {
    case 'type.googleapis.com/google.protobuf.Timestamp':
      return parseTimestamp(text)!
    case 'type.googleapis.com/google.protobuf.Duration':
      return parseDuration(text)!
    default:
      throw new Unsupported(String(json['@type']))
  }
}

export function protoValue(json: ProtoJson): CelValue {
  const [kind, content] = Object.entries(json)[0]!
  switch (kind) {
    case 'nullValue':
      return null
    case 'boolValue':
      return content as boolean
    case 'stringValue':
      return content as string
    case 'int64Value':
      return intValue(BigInt(content as string))
    case 'uint64Value':
      return new Uint(BigInt(content as string))
    case 'doubleValue':
      return doubleValue(Number(content))
    case 'bytesValue':
      return new Bytes(Buffer.from(content as string, 'base64'))
    case 'listValue':
      return ((content as ProtoJson).values as ProtoJson[] | undefined)?.map(protoValue) ?? []
    case 'mapValue': {
      const entries = ((content as ProtoJson).entries ?? []) as { key: ProtoJson; value: ProtoJson }[]
      return CelMap.of(entries.map(({ key, value }) => [protoValue(key), protoValue(value)] as const))
    }
    case 'typeValue':
      return new TypeValue(NAMED.get(String(content)) ?? opaque(String(content)))
    case 'objectValue':
      return objectValue(content as ProtoJson)
    default:
      throw new Unsupported(kind)
  }
}

const NAMED: ReadonlyMap<string, CelType> = new Map(
  [BOOL, INT, UINT, DOUBLE, STRING, BYTES, NULL, TIMESTAMP, DURATION, TYPE, listOf(DYN), mapOf(DYN, DYN)].map(
    (type) => [runtimeTypeName(type), type] as const,
  ),
)

/** The same value of the same type: 1 is not 1.0, and NaN is NaN. */
export function isSameValue(a: CelValue, b: CelValue): boolean {
  if (isList(a) && isList(b)) {
    const [left, right] = [listItems(a), listItems(b)]
    return left.length === right.length && left.every((item, i) => isSameValue(item, right[i]!))
  }
  if (isMap(a) && isMap(b)) {
    const keys = mapKeys(a)
    return (
      keys.length === mapKeys(b).length &&
      keys.every((key) => mapGet(b, key) !== undefined && isSameValue(mapGet(a, key)!, mapGet(b, key)!))
    )
  }
  if (valueType(a).kind !== valueType(b).kind) return false
  if (typeof a === 'number' || a instanceof Double) return Object.is(numberOf(a), numberOf(b))
  return a === b || (a instanceof Boxed && a.equals(b) === true)
}
