/** Thread: pool. Formats in a definition's schemas that nobody checks. */

import { isKnownFormat } from '../../../api/formats/formats.js'
import type { CustomResourceDefinitionSpec } from '../../../api/generated/kinds/apiextensions.v1beta1.js'
import { allSchemas } from '../../../apiextensions/schema/json-schema.js'
import { schemasOf } from './definition.js'

export function formatWarnings(spec: CustomResourceDefinitionSpec): string[] {
  return schemasOf(spec)
    .flatMap((schema) => allSchemas(schema))
    .filter(({ type = '', format = '' }) => format !== '' && !isKnownFormat(type, format))
    .map(({ format }) => `unrecognized format "${format}"`)
}
