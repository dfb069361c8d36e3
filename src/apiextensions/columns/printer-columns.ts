/**
 * Thread: any. The Table of a version of a custom resource: the name, then the columns that its definition says, or the age where
 * it says none. A cell whose value is missing or does not fit its column's type is null.
 */
import { humanDuration } from '../../api/human-duration.js'
import { goJson } from '../../api/managed-fields/go-json.js'
import { isJsonObject, type Json, type KubeObject, metadataOf } from '../../api/object.js'
import { canonicalTime, TimeError } from '../../api/time.js'
import { JsonPathError, type PathNode, parseJsonPath } from './json-path.js'
import { firstValue, PathWalk } from './json-path-values.js'

type ColumnType = 'string' | 'integer' | 'number' | 'boolean' | 'date'

/** An entry of additionalPrinterColumns. */
export interface PrinterColumn {
  readonly name: string
  readonly type: string
  readonly jsonPath: string
  readonly format?: string
  readonly description?: string
  readonly priority?: number
}

export interface PrinterTableColumn {
  readonly name: string
  readonly type: ColumnType
  readonly format: string
  readonly description: string
  readonly priority: number
}

type Cell = string | number | bigint | boolean | null

export interface PrinterTable {
  readonly columns: readonly PrinterTableColumn[]
  /** One cell for each column. `nowMs` is for ages. */
  cells(object: KubeObject, nowMs: number): Cell[]
}

const NAME: PrinterTableColumn = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description: 'The name of the object, unique within its namespace and kind.',
  priority: 0,
}
const AGE: PrinterColumn = {
  name: 'Age',
  type: 'date',
  jsonPath: '.metadata.creationTimestamp',
  description: 'The time since the object was created.',
}

interface Column {
  readonly column: PrinterTableColumn
  readonly path: readonly PathNode[]
}

/** Of columns whose path cannot be read the first ends the Table, as in Kubernetes. */
export function printerTable(columns: readonly PrinterColumn[] | undefined): PrinterTable {
  const shown: Column[] = []
  for (const column of (columns ?? []).length === 0 ? [AGE] : columns!) {
    const path = readPath(column.jsonPath)
    if (path === undefined) break
    shown.push({ column: tableColumn(column), path })
  }
  return {
    columns: [NAME, ...shown.map(({ column }) => column)],
    cells: (object, nowMs) => {
      const walk = new PathWalk()
      return [
        metadataOf(object).name ?? '',
        ...shown.map(({ column, path }) => cellOf(column.type, firstValue(path, object as Json, walk), nowMs)),
      ]
    },
  }
}

function readPath(text: string): readonly PathNode[] | undefined {
  try {
    return parseJsonPath(text)
  } catch (error) {
    if (error instanceof JsonPathError) return undefined
    throw error
  }
}

const tableColumn = ({ name, type, format, description, jsonPath, priority }: PrinterColumn): PrinterTableColumn => ({
  name,
  type: type as ColumnType,
  format: format ?? '',
  description:
    (description ?? '') === '' ? `Custom resource definition column (in JSONPath format): ${jsonPath}` : description!,
  priority: priority ?? 0,
})

function cellOf(type: ColumnType, value: Json | undefined, nowMs: number): Cell {
  if (value === undefined) return null
  if (type === 'string') return textOf(value)
  switch (type) {
    case 'integer':
      return typeof value === 'number' ? Math.trunc(value) : typeof value === 'bigint' ? value : null
    case 'number':
      return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : null
    case 'boolean':
      return typeof value === 'boolean' ? value : null
    case 'date':
      return typeof value === 'string' ? ageText(value, nowMs) : null
  }
}

/** A value as Go prints it: lists and objects as JSON, null as a value that is not there. */
function textOf(value: Json): string {
  if (value === null) return '<no value>'
  if (Array.isArray(value) || isJsonObject(value)) return escapeHtml(goJson(value))
  return typeof value === 'number' ? numberText(value) : String(value)
}

const escapeHtml = (json: string): string =>
  json.replace(/[<>&\u2028\u2029]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** Go turns to exponents, of two digits at least, for what is smaller than 1e-4 or as large as 1e21. */
function numberText(value: number): string {
  const isSmall = value !== 0 && Math.abs(value) < 1e-4
  const text = isSmall ? value.toExponential() : String(value)
  return text.replace(/e([+-])(\d)$/, 'e$10$2')
}

function ageText(text: string, nowMs: number): string {
  if (text === '' || text === 'null') return '<unknown>'
  try {
    const time = canonicalTime(text)
    return time === undefined ? '<unknown>' : humanDuration(nowMs - Date.parse(time))
  } catch (error) {
    if (error instanceof TimeError) return '<invalid>'
    throw error
  }
}
