/** Thread: any. Selectors held against records. */
import type { Selector } from '../../api/selector.js'
import type { RecordView } from '../memory/shared-memory.js'

export interface RecordSelectors {
  readonly label: Selector
  readonly field: Selector
}

/** True when neither selector can refuse anything. */
export const selectsAll = ({ label, field }: RecordSelectors): boolean => label.empty() && field.empty()

export const selects = ({ label, field }: RecordSelectors, record: RecordView): boolean =>
  label.matches(record.labels) && field.matches(record.fields)
