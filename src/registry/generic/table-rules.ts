/** Thread: pool. Tables written as a list of columns, each with the way to its cell. */
import type { KubeObject } from '../../api/object.js'
import type { TableCell, TableColumn, TableRules } from './resource-rules.js'
import { AGE_COLUMN, ageOf, NAME_COLUMN } from './table-columns.js'

export interface CellRule<T extends KubeObject> extends TableColumn {
  cell(object: T, nowMs: number): TableCell
}

/** A column of texts, which most are. */
export const text = <T extends KubeObject>(
  name: string,
  description: string,
  cell: (object: T, nowMs: number) => TableCell,
  more: Partial<TableColumn> = {},
): CellRule<T> => ({ type: 'string', ...more, name, description, cell })

export const age = <T extends KubeObject>(more: Partial<TableColumn> = {}): CellRule<T> => ({
  ...AGE_COLUMN,
  ...more,
  cell: ageOf,
})

/** Makes a table of columns; the name comes first in every table. */
export function tableOf<T extends KubeObject>(...rules: CellRule<T>[]): TableRules<T> {
  return {
    columns: [NAME_COLUMN, ...rules.map(({ cell: _, ...column }) => column)],
    cells: (object, nowMs) => [object.metadata?.name ?? '', ...rules.map((rule) => rule.cell(object, nowMs))],
  }
}

export const NONE = '<none>'
export const UNSET = '<unset>'
export const orNone = (value: string | undefined): string => ((value ?? '') === '' ? NONE : value!)
export const orUnset = (value: string | undefined | null): string => value ?? UNSET
/** A list as kubectl prints it: parted by commas, `<none>` when there is nothing. */
export const commas = (values: readonly string[] | null | undefined): string => orNone((values ?? []).join(','))
/** Labels as a=b,c=d, in the order of keys. */
export const labelText = (labels: Readonly<Record<string, string>> | null | undefined): string =>
  commas(
    Object.entries(labels ?? {})
      .map(([key, value]) => `${key}=${value}`)
      .sort(),
  )
