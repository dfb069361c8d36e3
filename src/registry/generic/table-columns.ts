/** Thread: pool. Columns that most Tables share. */
import { humanDuration } from '../../api/human-duration.js'
import { type KubeObject, metadataOf } from '../../api/object.js'
import type { TableColumn } from './resource-rules.js'

export const NAME_COLUMN: TableColumn = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description: 'The name of the object, unique within its namespace and kind.',
}
export const AGE_COLUMN: TableColumn = {
  name: 'Age',
  type: 'string',
  description: 'The time since the object was created.',
}

export function ageOf(object: KubeObject, nowMs: number): string {
  const { creationTimestamp } = metadataOf(object)
  return creationTimestamp ? humanDuration(nowMs - Date.parse(creationTimestamp)) : '<unknown>'
}
