/**
 * Thread: any. The document of OpenAPI version 2 as a protobuf message: kubectl and client-go ask for no other form, kubectl
 * before it says that there is no such kind. Numbers of fields are those of gnostic's openapi.v2.Document.
 */
import { BackwardWriter } from '../protobuf/backward-writer.js'

export const OPENAPI_V2_PROTOBUF = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf'
/** Its name before, which client-go still asks by. */
export const OPENAPI_V2_PROTOBUF_OLD = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf'

type Tree = Readonly<Record<string, unknown>>
type Kind = 'string' | 'boolean' | 'integer' | 'double' | 'any' | ((this: void, writer: Writer, value: never) => void)
interface Field {
  readonly number: number
  readonly kind: Kind
  readonly repeated?: boolean
}
interface Message {
  readonly fields: Readonly<Record<string, Field>>
  /** Where x-… goes. */
  readonly extensions: number
}

const LENGTH_DELIMITED = 2
const FIXED_64 = 1
const one = (number: number, kind: Kind = 'string'): Field => ({ number, kind })
const many = (number: number, kind: Kind = 'string'): Field => ({ number, kind, repeated: true })

/** Backwards, as its bytes are written: what comes last in the message is told first. */
class Writer {
  readonly #bytes = new BackwardWriter()

  take(): Buffer {
    return this.#bytes.take()
  }

  within(number: number, write: () => void): void {
    const before = this.#bytes.length
    write()
    this.#bytes.varint(this.#bytes.length - before)
    this.#bytes.varint((number << 3) | LENGTH_DELIMITED)
  }

  field(number: number, kind: Kind, value: unknown): void {
    if (typeof kind === 'function') this.within(number, () => kind(this, value as never))
    else if (kind === 'any') this.within(number, () => this.field(2, 'string', JSON.stringify(value)))
    else if (kind === 'string') {
      this.#bytes.string(String(value))
      this.#bytes.varint((number << 3) | LENGTH_DELIMITED)
    } else if (kind === 'double') {
      this.#bytes.double(Number(value))
      this.#bytes.varint((number << 3) | FIXED_64)
    } else {
      this.#bytes.int64(Number(value))
      this.#bytes.varint(number << 3)
    }
  }

  message({ fields, extensions }: Message, tree: Tree): void {
    for (const [key, value] of Object.entries(tree).reverse()) {
      const field = fields[key]
      if (field !== undefined)
        for (const each of field.repeated ? [...(value as unknown[])].reverse() : [value])
          this.field(field.number, field.kind, each)
      else if (key.startsWith('x-')) this.named(extensions, key, 'any', value)
    }
  }

  named(number: number, name: string, kind: Kind, value: unknown): void {
    this.within(number, () => {
      this.field(2, kind, value)
      this.field(1, 'string', name)
    })
  }
}

/** A message with nothing but a list of names and values. */
const mapOf =
  (number: number, kind: Kind) =>
  (writer: Writer, tree: Tree): void => {
    for (const [name, value] of Object.entries(tree).reverse()) writer.named(number, name, kind, value)
  }
const message =
  (of: Message) =>
  (writer: Writer, tree: Tree): void =>
    writer.message(of, tree)
/** A message that only says which of several its one field is. */
const only =
  (number: number, kind: Kind) =>
  (writer: Writer, value: unknown): void =>
    writer.field(number, kind, value)

/** Schemas hold schemas. */
function schema(writer: Writer, tree: Tree): void {
  writer.message(SCHEMA, tree)
}
const SCHEMA: Message = {
  extensions: 31,
  fields: {
    $ref: one(1),
    format: one(2),
    title: one(3),
    description: one(4),
    default: one(5, 'any'),
    multipleOf: one(6, 'double'),
    maximum: one(7, 'double'),
    exclusiveMaximum: one(8, 'boolean'),
    minimum: one(9, 'double'),
    exclusiveMinimum: one(10, 'boolean'),
    maxLength: one(11, 'integer'),
    minLength: one(12, 'integer'),
    pattern: one(13),
    maxItems: one(14, 'integer'),
    minItems: one(15, 'integer'),
    uniqueItems: one(16, 'boolean'),
    maxProperties: one(17, 'integer'),
    minProperties: one(18, 'integer'),
    required: many(19),
    enum: many(20, 'any'),
    additionalProperties: one(21, (writer: Writer, value: unknown) =>
      typeof value === 'boolean' ? writer.field(2, 'boolean', value) : writer.field(1, schema, value),
    ),
    type: one(22, only(1, 'string')),
    items: one(23, only(1, schema)),
    allOf: many(24, schema),
    properties: one(25, mapOf(1, schema)),
    readOnly: one(27, 'boolean'),
    example: one(30, 'any'),
  },
}

const BODY_PARAMETER: Message = {
  extensions: 6,
  fields: { description: one(1), name: one(2), in: one(3), required: one(4, 'boolean'), schema: one(5, schema) },
}
const QUERY_PARAMETER: Message = {
  extensions: 23,
  fields: {
    ...{ required: one(1, 'boolean'), in: one(2), description: one(3), name: one(4) },
    ...{ type: one(6), format: one(7), uniqueItems: one(20, 'boolean') },
  },
}
const PATH_PARAMETER: Message = {
  extensions: 22,
  fields: {
    ...{ required: one(1, 'boolean'), in: one(2), description: one(3), name: one(4) },
    ...{ type: one(5), format: one(6), uniqueItems: one(19, 'boolean') },
  },
}

const bodyParameter = only(1, message(BODY_PARAMETER))
const queryParameter = only(2, only(3, message(QUERY_PARAMETER)))
const pathParameter = only(2, only(4, message(PATH_PARAMETER)))

function parameter(writer: Writer, tree: Tree): void {
  const place = tree['in']
  writer.field(1, place === 'body' ? bodyParameter : place === 'query' ? queryParameter : pathParameter, tree)
}

const RESPONSE: Message = { extensions: 5, fields: { description: one(1), schema: one(2, only(1, schema)) } }
const response = only(1, message(RESPONSE))

const OPERATION: Message = {
  extensions: 13,
  fields: {
    tags: many(1),
    summary: one(2),
    description: one(3),
    operationId: one(5),
    produces: many(6),
    consumes: many(7),
    parameters: many(8, parameter),
    responses: one(9, mapOf(1, response)),
    schemes: many(10),
    deprecated: one(11, 'boolean'),
  },
}
const operation = message(OPERATION)

const PATH_ITEM: Message = {
  extensions: 10,
  fields: {
    get: one(2, operation),
    put: one(3, operation),
    post: one(4, operation),
    delete: one(5, operation),
    options: one(6, operation),
    head: one(7, operation),
    patch: one(8, operation),
    parameters: many(9, parameter),
  },
}

const INFO: Message = { extensions: 7, fields: { title: one(1), version: one(2), description: one(3) } }
const API_KEY: Message = { extensions: 5, fields: { type: one(1), name: one(2), in: one(3), description: one(4) } }
const strings = (writer: Writer, values: readonly string[]): void => {
  for (const value of [...values].reverse()) writer.field(1, 'string', value)
}

const DOCUMENT: Message = {
  extensions: 16,
  fields: {
    swagger: one(1),
    info: one(2, message(INFO)),
    paths: one(8, mapOf(2, message(PATH_ITEM))),
    definitions: one(9, mapOf(1, schema)),
    security: many(12, mapOf(1, strings)),
    securityDefinitions: one(13, mapOf(1, only(2, message(API_KEY)))),
  },
}

export function encodeOpenApiV2(document: object): Buffer {
  const writer = new Writer()
  writer.message(DOCUMENT, document as Tree)
  return writer.take()
}
