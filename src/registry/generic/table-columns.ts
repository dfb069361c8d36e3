/** Thread: pool. Columns that most Tables share, and how ages are written. */
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

/** 5s, 3m20s, 4h, 2d3h, 400d: shorter the older it is. */
export function humanDuration(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1000)
  if (seconds < -1) return '<invalid>'
  if (seconds < 0) return '0s'
  if (seconds < 120) return `${seconds}s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 10) return seconds % 60 === 0 ? `${minutes}m` : `${minutes}m${seconds % 60}s`
  if (minutes < 180) return `${minutes}m`
  const hours = Math.floor(minutes / 60)
  if (hours < 8) return minutes % 60 === 0 ? `${hours}h` : `${hours}h${minutes % 60}m`
  if (hours < 48) return `${hours}h`
  const days = Math.floor(hours / 24)
  if (hours < 192) return hours % 24 === 0 ? `${days}d` : `${days}d${hours % 24}h`
  if (days < 365 * 2) return `${days}d`
  const years = Math.floor(days / 365)
  if (days < 365 * 8) return days % 365 === 0 ? `${years}y` : `${years}y${days % 365}d`
  return `${years}y`
}

export function ageOf(object: KubeObject, nowMs: number): string {
  const { creationTimestamp } = metadataOf(object)
  return creationTimestamp ? humanDuration(nowMs - Date.parse(creationTimestamp)) : '<unknown>'
}
