/** Thread: pool. Objects as rows: what kubectl prints. Kinds without columns of their own show name and age. */
import { type KubeObject, metadataOf, type ObjectMeta } from '../api/object.js'
import type { ResourceRules, TableColumn, TableRules } from '../registry/generic/resource-rules.js'
import { NAME_COLUMN } from '../registry/generic/table-columns.js'

const CREATED_COLUMN: TableColumn = { name: 'Created At', type: 'date', description: 'When the object was created.' }

const DEFAULT_TABLE: TableRules = {
  columns: [NAME_COLUMN, CREATED_COLUMN],
  cells: (object) => [metadataOf(object).name ?? '', metadataOf(object).creationTimestamp ?? ''],
}

export type IncludeObject = 'None' | 'Metadata' | 'Object'

export interface TableOptions {
  readonly version: string
  readonly include: IncludeObject
  readonly nowMs: number
  /** False: rows alone. */
  readonly columns?: boolean
}

export function tableOf(
  objects: readonly KubeObject[],
  metadata: object,
  rules: ResourceRules,
  options: TableOptions,
): KubeObject {
  const table = rules.table ?? DEFAULT_TABLE
  return {
    kind: 'Table',
    apiVersion: `meta.k8s.io/${options.version}`,
    metadata,
    columnDefinitions:
      options.columns === false
        ? null
        : table.columns.map((column) => ({
            name: column.name,
            type: column.type,
            format: column.format ?? '',
            description: column.description,
            priority: column.priority ?? 0,
          })),
    rows: objects.map((object) => ({
      cells: table.cells(object, options.nowMs),
      object: rowObject(object, options, rules),
    })),
  }
}

function rowObject(
  object: KubeObject,
  { version, include }: { readonly version: string; readonly include: IncludeObject },
  rules: ResourceRules,
): unknown {
  if (include === 'None') return undefined
  return include === 'Object' ? object : partialObjectMetadata(object, version, rules)
}

export function partialObjectMetadata(
  object: KubeObject,
  version: string,
  { fieldAnnotations }: Pick<ResourceRules, 'fieldAnnotations'>,
): KubeObject {
  const metadata = metadataOf(object)
  const shown = fieldAnnotations === undefined ? metadata : withoutAnnotations(metadata, fieldAnnotations)
  return { kind: 'PartialObjectMetadata', apiVersion: `meta.k8s.io/${version}`, metadata: shown }
}

function withoutAnnotations(metadata: ObjectMeta, hidden: readonly string[]): ObjectMeta {
  const { annotations = {}, ...rest } = metadata
  const shown = Object.entries(annotations).filter(([name]) => !hidden.includes(name))
  return shown.length === 0 ? rest : { ...rest, annotations: Object.fromEntries(shown) }
}
