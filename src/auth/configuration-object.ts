/**
 * Thread: any. An object of a configuration file (`apiserver.config.k8s.io`), read field by field. Files are read strictly, as
 * kube-apiserver reads them: a field that is unknown, of another type or given twice is an error with its path.
 */
import { type FieldError, FieldPath, invalid, notSupported, OMITTED } from '../api/field-error.js'
import type { Json, JsonObject } from '../api/object.js'
import { describeFieldError } from '../api/status.js'
import { parseYaml, YamlError } from '../api/yaml/yaml.js'

const GROUP = 'apiserver.config.k8s.io'
const VERSIONS = ['v1', 'v1beta1', 'v1alpha1'].map((version) => `${GROUP}/${version}`)

/** What is wrong with a file: a line each. */
export class ConfigurationErrors extends Error {
  override readonly name = 'ConfigurationErrors'
  readonly lines: readonly string[]

  constructor(lines: readonly string[]) {
    super(lines.join('; '))
    this.lines = lines
  }
}

/** Reads a whole file of the given kind. Throws ConfigurationErrors with everything that is wrong with it. */
export function readConfiguration<T>(
  text: string,
  kind: string,
  read: (root: ConfigurationObject, errors: FieldError[]) => T,
): T {
  const { value, twice } = parsed(text)
  if (!isObject(value)) throw new ConfigurationErrors([`it holds no ${kind}`])
  const errors: FieldError[] = []
  const root = new ConfigurationObject(value, FieldPath.of(), errors)
  if (root.text('kind') !== kind) errors.push(notSupported(root.path.child('kind'), value['kind'], [kind]))
  if (!VERSIONS.includes(root.text('apiVersion')))
    errors.push(notSupported(root.path.child('apiVersion'), value['apiVersion'], VERSIONS))
  const result = read(root, errors)
  const lines = errors.map((error) => `${error.field}: ${describeFieldError(error)}`)
  const all = [...twice, ...root.unknown().map((field) => `unknown field ${JSON.stringify(field)}`), ...lines]
  if (all.length > 0) throw new ConfigurationErrors(all)
  return result
}

function parsed(text: string): { readonly value: Json; readonly twice: readonly string[] } {
  try {
    const { value, strictErrors } = parseYaml(text)
    return { value, twice: strictErrors }
  } catch (error) {
    if (error instanceof YamlError) throw new ConfigurationErrors([`it is neither YAML nor JSON: ${error.message}`])
    throw error
  }
}

export class ConfigurationObject {
  readonly path: FieldPath
  readonly #value: JsonObject
  readonly #errors: FieldError[]
  readonly #asked = new Set<string>()
  readonly #children: ConfigurationObject[] = []

  constructor(value: JsonObject, path: FieldPath, errors: FieldError[]) {
    this.#value = value
    this.path = path
    this.#errors = errors
  }

  /** '' when the field is not given. */
  text(name: string): string {
    return this.givenText(name) ?? ''
  }

  givenText(name: string): string | undefined {
    return this.#given(name, (value) => typeof value === 'string', 'must be a text')
  }

  givenBoolean(name: string): boolean | undefined {
    return this.#given(name, (value) => typeof value === 'boolean', 'must be true or false')
  }

  /** Whether there is anything in the field, which is then not looked into. */
  isGiven(name: string): boolean {
    return this.#given(name, (value): value is Json => value !== null, '') !== undefined
  }

  texts(name: string): readonly string[] {
    const isTexts = (value: Json): value is string[] =>
      Array.isArray(value) && value.every((one) => typeof one === 'string')
    return this.#given(name, isTexts, 'must be a list of texts') ?? []
  }

  object(name: string): ConfigurationObject | undefined {
    const value = this.#given(name, isObject, 'must be an object')
    return value && this.#child(value, this.path.child(name))
  }

  /** The field as an object, an empty one when it is not given. */
  part(name: string): ConfigurationObject {
    return this.object(name) ?? this.#child({}, this.path.child(name))
  }

  objects(name: string): readonly ConfigurationObject[] {
    const isObjects = (value: Json): value is JsonObject[] => Array.isArray(value) && value.every(isObject)
    const list = this.#given(name, isObjects, 'must be a list of objects') ?? []
    return list.map((value, i) => this.#child(value, this.path.child(name).index(i)))
  }

  /** Paths of the fields, here and below, that nobody asked for. */
  unknown(): string[] {
    const own = Object.keys(this.#value).filter((name) => !this.#asked.has(name))
    return [
      ...own.map((name) => this.path.child(name).toString()),
      ...this.#children.flatMap((child) => child.unknown()),
    ]
  }

  #child(value: JsonObject, path: FieldPath): ConfigurationObject {
    const child = new ConfigurationObject(value, path, this.#errors)
    this.#children.push(child)
    return child
  }

  #given<T extends Json>(name: string, fits: (value: Json) => value is T, detail: string): T | undefined {
    this.#asked.add(name)
    const value = Object.hasOwn(this.#value, name) ? this.#value[name] : undefined
    if (value === undefined || value === null) return undefined
    if (fits(value)) return value
    this.#errors.push(invalid(this.path.child(name), OMITTED, detail))
    return undefined
  }
}

const isObject = (value: Json): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
