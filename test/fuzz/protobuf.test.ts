import { inspect, isDeepStrictEqual } from 'node:util'
import t, { type Test } from 'tap'
import { BuiltinSchemas } from '#keelson/api/builtin-schema.js'
import { Catalogue } from '#keelson/api/catalogue.js'
import { decodeTree } from '#keelson/api/json/decode.js'
import { encodeText } from '#keelson/api/json/encode.js'
import type { JsonObject } from '#keelson/api/object.js'
import { decodeMessage } from '#keelson/api/protobuf/decode-message.js'
import { encodeChecked, encodeMessage } from '#keelson/api/protobuf/encode-message.js'
import { decodeEnvelope, encodeProtobuf } from '#keelson/api/protobuf/envelope.js'
import { ProtobufError } from '#keelson/api/protobuf/protobuf-error.js'
import type { StructSchema } from '#keelson/api/schema.js'
import { sampleObject } from '../api/protobuf/sample-object.js'
import { fuzzRounds, fuzzSeed, Random } from '../support/fuzz.js'

const schemas = new BuiltinSchemas()
const types = [
  ...Catalogue.builtin().resources.map(({ group, version, kind }) => schemas.kind(group, version, kind)!),
  schemas.definition('io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps') as StructSchema,
]

/** The result; undefined for a ProtobufError; anything else fails the test. */
function attempt<T>(run: () => T): T | undefined {
  try {
    return run()
  } catch (error) {
    if (error instanceof ProtobufError) return undefined
    throw error
  }
}

/** What could be decoded is canonical, and from its own bytes on nothing changes any more. */
function check(t: Test, bytes: Uint8Array, schema: StructSchema): boolean {
  const tree = attempt(() => decodeMessage(bytes, schema))
  if (tree === undefined) return false
  const text = encodeText(tree, schema)
  if (encodeText(decodeTree(tree, schema).object, schema) !== text) t.fail(`not canonical: ${text}`)
  const again = encodeMessage(tree, schema)
  const decoded = decodeMessage(again, schema)
  if (!encodeMessage(decoded, schema).equals(again)) t.fail(`not stable: ${Buffer.from(bytes).toString('hex')}`)
  return true
}

function mutate(random: Random, valid: Buffer): Buffer {
  const bytes = Buffer.from(valid)
  switch (random.below(5)) {
    case 0:
      return bytes.subarray(0, random.below(bytes.length + 1))
    case 1:
      for (let i = random.below(8); i >= 0; i--)
        if (bytes.length > 0) bytes[random.below(bytes.length)] = random.below(256)
      return bytes
    case 2: {
      const at = random.below(bytes.length + 1)
      const noise = Buffer.from(Array.from({ length: random.below(12) }, () => random.below(256)))
      return Buffer.concat([bytes.subarray(0, at), noise, bytes.subarray(at)])
    }
    case 3: {
      const at = random.below(bytes.length + 1)
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(random.below(bytes.length + 1))])
    }
    default:
      return Buffer.concat([bytes, bytes])
  }
}

t.test('mutated messages: a tree that encodes, or a ProtobufError', (t) => {
  const random = new Random(fuzzSeed())
  let decoded = 0
  const rounds = fuzzRounds(3000)
  for (let round = 0; round < rounds; round++) {
    const schema = random.pick(types)
    const tree = decodeTree(sampleObject(schema, { random, chance: random.pick([5, 20, 50]) }), schema).object
    if (check(t, mutate(random, encodeMessage(tree as JsonObject, schema)), schema)) decoded++
  }
  t.ok(decoded > rounds / 20, `${decoded} of ${rounds} could be decoded`)
  t.ok(decoded < rounds, 'some could not')
  t.end()
})

t.test('random bytes: a tree that encodes, or a ProtobufError', (t) => {
  const random = new Random(fuzzSeed())
  for (let round = 0; round < fuzzRounds(20000); round++) {
    const bytes = Buffer.from(Array.from({ length: random.below(60) }, () => random.below(random.pick([32, 256]))))
    check(t, bytes, random.pick(types))
  }
  t.end()
})

t.test('mutated envelopes: a kind and bytes, or a ProtobufError', (t) => {
  const random = new Random(fuzzSeed())
  const valid = encodeProtobuf({ kind: 'Pod', apiVersion: 'v1' }, schemas.kind('', 'v1', 'Pod')!)
  for (let round = 0; round < fuzzRounds(5000); round++) attempt(() => decodeEnvelope(mutate(random, valid)))
  t.end()
})

/** As requests and code leave trees: members that are null, empty, zero or unknown, and texts that are not canonical. */
function spoil(random: Random, tree: JsonObject): void {
  const places: { object: JsonObject; key: string }[] = []
  const gather = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    if (!Array.isArray(value)) for (const key of Object.keys(value)) places.push({ object: value as JsonObject, key })
    for (const item of Object.values(value)) gather(item)
  }
  gather(tree)
  if (places.length === 0) return
  const { object, key } = random.pick(places)
  const { [key]: before } = object
  switch (random.below(9)) {
    case 0:
      object[key] = null
      return
    case 1:
      delete object[key]
      return
    case 2:
      object['notAField'] = 1
      return
    case 3:
      Object.assign(object, { [key]: undefined })
      return
    case 4:
      object[key] = -0
      return
    case 5:
      object[key] = `${typeof before === 'string' ? before : ''}\ud800`
      return
    case 6:
      object[key] = random.pick(['', '1000m', '1024Mi', '0001-01-01T00:00:00Z', '2026-02-30T00:00:00Z', '60m', 'AB=='])
      return
    case 7:
      object[key] = Array.isArray(before)
        ? []
        : typeof before === 'object'
          ? {}
          : typeof before === 'number'
            ? 0
            : false
      return
    default:
      if (Array.isArray(before)) before.push(null)
      else object[key] = 9007199254740993n
  }
}

t.test('a tree that is said to be canonical is what its bytes are read as', (t) => {
  const random = new Random(fuzzSeed())
  const counts = { canonical: 0, spoiled: 0, certain: 0 }
  const rounds = fuzzRounds(6000)
  for (let round = 0; round < rounds; round++) {
    const schema = random.pick(types)
    const sample = sampleObject(schema, { random, chance: random.pick([3, 10, 30]) })
    const tree = attempt(() => decodeMessage(encodeMessage(sample, schema), schema))
    if (tree === undefined) continue
    const spoils = random.below(3)
    for (let i = 0; i < spoils; i++) spoil(random, tree)
    const encoded = attempt(() => encodeChecked(tree, schema))
    if (encoded === undefined) continue
    const read = attempt(() => decodeMessage(encoded.bytes, schema))
    const isSame =
      read !== undefined && isDeepStrictEqual(read, tree) && encodeText(read, schema) === encodeText(tree, schema)
    if (encoded.isCanonical && !isSame)
      t.fail(`not what is read: ${inspect({ tree, read }, { depth: 20 })} of ${schema.name}`)
    if (isSame) counts.canonical++
    else counts.spoiled++
    if (encoded.isCanonical) counts.certain++
  }
  t.ok(counts.spoiled > rounds / 10, `${counts.spoiled} of ${rounds} were spoiled`)
  t.ok(counts.certain > counts.canonical / 4, `${counts.certain} of ${counts.canonical} were seen to be canonical`)
  t.end()
})
