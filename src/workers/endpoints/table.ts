/** Thread: pool. Objects as rows: what kubectl prints. Kinds without columns of their own show name and age. */
import { type KubeObject, metadataOf, type ObjectMeta } from '../../api/object.js'
import type { ResourceRules, TableCell, TableColumn, TableRules } from '../../registry/generic/resource-rules.js'
import { NAME_COLUMN } from '../../registry/generic/table-columns.js'
import type { Endpoint } from './endpoint.js'

const CREATED_COLUMN: TableColumn = { name: 'Created At', type: 'date', description: 'When the object was created.' }

const DEFAULT_TABLE: TableRules = {
  columns: [NAME_COLUMN, CREATED_COLUMN],
  cells: (object) => [metadataOf(object).name ?? '', metadataOf(object).creationTimestamp ?? ''],
}

/** Resources whose status is shown as an object and not as a Table. */
const STATUS_WITHOUT_TABLE: ReadonlySet<string> = new Set([
  'apiservices',
  'compositepodgroups',
  'customresourcedefinitions',
  'devicetaintrules',
  'podgroups',
  'resourceclaims',
  'resourcepoolstatusrequests',
])

/** Reviews, bindings, tokens, evictions and other parts of objects are answered as themselves or as metadata. */
export function hasTable({ info, subresource }: Pick<Endpoint, 'info' | 'subresource'>): boolean {
  if (info.definitionHash !== undefined || subresource === 'scale') return true
  if (subresource === 'status') return !STATUS_WITHOUT_TABLE.has(info.resource)
  return subresource === '' && info.verbs.includes('list')
}

export type IncludeObject = 'None' | 'Metadata' | 'Object'

export interface TableOptions {
  readonly version: string
  readonly include: IncludeObject
  readonly nowMs: number
  /** Whether the Table has its columns; without them it has rows alone. */
  readonly columns?: boolean
}

export function tableOf(
  objects: readonly KubeObject[],
  metadata: object,
  rules: ResourceRules,
  options: TableOptions,
): KubeObject {
  return {
    kind: 'Table',
    apiVersion: `meta.k8s.io/${options.version}`,
    metadata,
    columnDefinitions: options.columns === false ? null : columnsOf(rules),
    rows: objects.map((object) => rowOf(object, rules, options)),
  }
}

export const columnsOf = ({ table = DEFAULT_TABLE }: ResourceRules): Required<TableColumn>[] =>
  table.columns.map(({ name, type, format = '', description, priority = 0 }) => ({
    name,
    type,
    format,
    description,
    priority,
  }))

export const rowOf = (
  object: KubeObject,
  rules: ResourceRules,
  options: TableOptions,
): { cells: TableCell[]; object: unknown } => ({
  cells: (rules.table ?? DEFAULT_TABLE).cells(object, options.nowMs),
  object: rowObject(object, options, rules),
})

/** The most seconds for which the cells of a row are said to last. */
const LONGEST_SECONDS = 3600

/**
 * For how long the cells stay as they are. Ages count whole seconds and are rounded, the more the older they are; a text
 * that has given way to the next never comes back, so the moment in which that happens can be searched for.
 */
export function cellsLastMs(object: KubeObject, { table = DEFAULT_TABLE }: ResourceRules, nowMs: number): number {
  const cells = table.cells(object, nowMs)
  const startMs = Math.floor(nowMs / 1000) * 1000
  const lasts = (seconds: number): boolean => {
    const later = table.cells(object, startMs + seconds * 1000 - 1)
    return cells.every((cell, i) => cell === later[i])
  }
  let last = 1
  let over = LONGEST_SECONDS
  if (lasts(over)) last = over
  else
    while (over - last > 1) {
      const middle = Math.floor((last + over) / 2)
      if (lasts(middle)) last = middle
      else over = middle
    }
  return startMs + last * 1000 - nowMs
}

function rowObject(
  object: KubeObject,
  { version, include }: { readonly version: string; readonly include: IncludeObject },
  rules: ResourceRules,
): unknown {
  if (include === 'None') return null
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
