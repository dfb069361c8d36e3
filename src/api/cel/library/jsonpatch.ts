/** Thread: any. `jsonpatch.escapeKey`: a key as it stands in a path of a JSON patch. Only mutating policies have it. */
import type { Library } from '../function-declaration.js'
import { STRING } from '../types.js'
import { declare, plain, WALKS_AND_COPIES } from './overload.js'

const escapeKey = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1')

export const jsonPatch: Library = {
  functions: [
    declare(
      'jsonpatch.escapeKey',
      plain('string_jsonpatch_escapeKey_string', [STRING], STRING, escapeKey, WALKS_AND_COPIES),
    ),
  ],
}
