import t, { type Test } from 'tap'
import { BuiltinSchemas } from '#keelson/api/builtin-schema.js'
import { Catalogue } from '#keelson/api/catalogue.js'
import { decodeTree } from '#keelson/api/json/decode.js'
import { encodeText } from '#keelson/api/json/encode.js'
import type { JsonObject } from '#keelson/api/object.js'
import { decodeMessage } from '#keelson/api/protobuf/decode-message.js'
import { encodeMessage } from '#keelson/api/protobuf/encode-message.js'
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
