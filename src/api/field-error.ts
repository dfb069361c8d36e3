/** Thread: any. What validation says of a field; becomes a cause in an Invalid Status. Types are Kubernetes' own. */

export type FieldErrorType =
  | 'FieldValueNotFound'
  | 'FieldValueRequired'
  | 'FieldValueDuplicate'
  | 'FieldValueInvalid'
  | 'FieldValueNotSupported'
  | 'FieldValueForbidden'
  | 'FieldValueTooLong'
  | 'FieldValueTooMany'
  | 'InternalError'
  | 'FieldValueTypeInvalid'

export interface FieldError {
  readonly type: FieldErrorType
  /** spec.containers[0].name */
  readonly field: string
  readonly badValue: unknown
  readonly detail: string
}

/** Stands for a value that an error does not show: objects and lists that a rule is about. */
export const OMITTED: unique symbol = Symbol('omitted')

/** A path to a field, written as Kubernetes writes it. */
export class FieldPath {
  readonly #text: string
  private constructor(text: string) {
    this.#text = text
  }
  static of(...names: string[]): FieldPath {
    return new FieldPath(names.join('.'))
  }
  child(...names: string[]): FieldPath {
    return new FieldPath(this.#text === '' ? names.join('.') : `${this.#text}.${names.join('.')}`)
  }
  index(i: number): FieldPath {
    return new FieldPath(`${this.#text}[${i}]`)
  }
  key(key: string): FieldPath {
    return new FieldPath(`${this.#text}[${key}]`)
  }
  toString(): string {
    return this.#text
  }
}

export const notFound = (path: FieldPath, value: unknown): FieldError => make('FieldValueNotFound', path, value, '')
export const required = (path: FieldPath, detail = ''): FieldError => make('FieldValueRequired', path, '', detail)
export const duplicate = (path: FieldPath, value: unknown): FieldError => make('FieldValueDuplicate', path, value, '')
export const invalid = (path: FieldPath, value: unknown, detail: string): FieldError =>
  make('FieldValueInvalid', path, value, detail)
export const forbidden = (path: FieldPath, detail: string): FieldError => make('FieldValueForbidden', path, '', detail)
export const tooLong = (path: FieldPath, maxLength: number): FieldError =>
  make('FieldValueTooLong', path, '', `may not be more than ${maxLength} bytes`)
export const tooMany = (path: FieldPath, actual: number, maximum: number): FieldError =>
  make('FieldValueTooMany', path, actual, `must have at most ${maximum} items`)
export const internal = (path: FieldPath, detail: string): FieldError => make('InternalError', path, '', detail)
export const notSupported = (path: FieldPath, value: unknown, supported: readonly string[]): FieldError =>
  make(
    'FieldValueNotSupported',
    path,
    value,
    `supported values: ${[...supported]
      .sort()
      .map((s) => JSON.stringify(s))
      .join(', ')}`,
  )

function make(type: FieldErrorType, path: FieldPath, badValue: unknown, detail: string): FieldError {
  return { type, field: path.toString(), badValue, detail }
}
