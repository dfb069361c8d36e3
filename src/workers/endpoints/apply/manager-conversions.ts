/**
 * Thread: pool. Conversions by a webhook for the FieldManager, which compares objects in the versions in which their managers wrote
 * them and waits for nothing. The manager's work is run until it asks for an object that has not been converted; that object is
 * converted, and the work is run again from the start, which finds it. The work changes nothing it is given, and each run gets
 * further than the one before.
 *
 *   run ──all conversions known──▶ done        run ──one is missing──▶ converting ──▶ run
 */
import { encodeUntyped } from '../../../api/json/encode.js'
import type { Json, JsonObject, KubeObject } from '../../../api/object.js'
import type { ObjectConverter } from '../../../apiextensions/conversion/interface.js'
import type { CancelSignal } from '../../../lib/cancellation.js'
import { TypedError } from './typed-error.js'

/** More than any work asks for: an object before and after, in each of a dozen versions. */
const MAX_CONVERSIONS = 64

class MissingConversion extends Error {
  readonly key: string
  readonly object: JsonObject
  readonly apiVersion: string

  constructor(key: string, object: JsonObject, apiVersion: string) {
    super('an object has to be converted first')
    this.key = key
    this.object = object
    this.apiVersion = apiVersion
  }
}

export class ManagerConversions {
  readonly #converter: ObjectConverter
  readonly #apiVersion: string
  /** Those of the work that is running; undefined between runs. */
  #known: ReadonlyMap<string, JsonObject | TypedError> | undefined

  /** `apiVersion`: that of objects that do not say theirs. */
  constructor(converter: ObjectConverter, apiVersion: string) {
    this.#converter = converter
    this.#apiVersion = apiVersion
  }

  /** For the converter of a FieldManager, within run(). */
  convert(object: JsonObject, apiVersion: string): JsonObject {
    const key = `${apiVersion} ${encodeUntyped(object as Json)}`
    const found = this.#known?.get(key)
    if (found === undefined) throw new MissingConversion(key, object, apiVersion)
    if (found instanceof TypedError) throw found
    return found
  }

  async run<T>(work: () => T, signal?: CancelSignal): Promise<T> {
    const known = new Map<string, JsonObject | TypedError>()
    for (;;) {
      const outcome = this.#attempt(work, known)
      if (!(outcome instanceof MissingConversion)) return outcome.done
      if (known.size >= MAX_CONVERSIONS) throw problem('managers have written in too many versions')
      known.set(outcome.key, await this.#converted(outcome, signal))
    }
  }

  /** Works in one turn, so that no other request's work finds these conversions. */
  #attempt<T>(work: () => T, known: ReadonlyMap<string, JsonObject | TypedError>): { done: T } | MissingConversion {
    this.#known = known
    try {
      return { done: work() }
    } catch (error) {
      if (error instanceof MissingConversion) return error
      throw error
    } finally {
      this.#known = undefined
    }
  }

  /** What cannot be converted cannot be compared: an update then forgets its managers, an apply fails. */
  async #converted(
    { object, apiVersion }: MissingConversion,
    signal: CancelSignal | undefined,
  ): Promise<JsonObject | TypedError> {
    const typed: KubeObject = { apiVersion: this.#apiVersion, ...(object as KubeObject) }
    try {
      const [converted] = await this.#converter.convert([typed], apiVersion, signal)
      return converted as JsonObject
    } catch (error) {
      return problem(error instanceof Error ? error.message : String(error))
    }
  }
}

const problem = (message: string): TypedError => new TypedError([{ path: '', message }])
