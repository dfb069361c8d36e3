/** Thread: pool. A label selector in one line, in the two ways that tables show one. */
import type { LabelSelectorObject } from '../../api/label-selector-object.js'
import { lookupTable } from '../../lib/lookup-table.js'
import { NONE } from './table-rules.js'

const OPERATOR_TEXT: Readonly<Record<string, (key: string, values: string) => string>> = lookupTable({
  In: (key, values) => `${key} in (${values})`,
  NotIn: (key, values) => `${key} notin (${values})`,
  Exists: (key) => key,
  DoesNotExist: (key) => `!${key}`,
})

export function selectorText(selector: LabelSelectorObject | null | undefined): string {
  if (selector === undefined || selector === null) return NONE
  const parts = Object.entries(selector.matchLabels ?? {}).map(([key, value]) => ({ key, text: `${key}=${value}` }))
  for (const { key = '', operator = '', values } of selector.matchExpressions ?? []) {
    const text = OPERATOR_TEXT[operator]?.(key, [...(values ?? [])].sort().join(',')) ?? '<error>'
    parts.push({ key, text })
  }
  parts.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
  return parts.length === 0 ? NONE : parts.map(({ text }) => text).join(',')
}

/** The selector as Go prints its struct. */
export function selectorStructText({ matchLabels, matchExpressions }: LabelSelectorObject): string {
  const labels = Object.keys(matchLabels ?? {})
    .sort()
    .map((key) => `${key}: ${matchLabels![key]},`)
  const requirements = (matchExpressions ?? []).map(
    ({ key = '', operator = '', values }) =>
      `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${(values ?? []).join(' ')}],},`,
  )
  return `&LabelSelector{MatchLabels:map[string]string{${labels.join('')}},MatchExpressions:[]LabelSelectorRequirement{${requirements.join('')}},}`
}
