/** Thread: any. Field selectors: `metadata.name=a,status.phase!=Running`; a backslash takes the meaning of , = and \. */
import { SelectorError } from './labels.js'
import type { AttributeSet, Selector } from './selector.js'

export interface FieldRequirement {
  readonly field: string
  readonly operator: '=' | '!='
  readonly value: string
}

export class FieldSelector implements Selector {
  readonly requirements: readonly FieldRequirement[]

  constructor(requirements: readonly FieldRequirement[]) {
    this.requirements = requirements
  }

  /** A field that an object does not have is empty. */
  matches(fields: AttributeSet): boolean {
    for (const { field, operator, value } of this.requirements)
      if (((fields.get(field) ?? '') === value) !== (operator === '=')) return false
    return true
  }

  empty(): boolean {
    return this.requirements.length === 0
  }

  requiresExactMatch(name: string): string | undefined {
    return this.requirements.find(({ field, operator }) => field === name && operator === '=')?.value
  }

  /** The same with other names: versions of a kind may call a field differently. Throws what `rename` throws. */
  transform(rename: (field: string, value: string) => { field: string; value: string }): FieldSelector {
    return new FieldSelector(
      this.requirements.map(({ field, operator, value }) => ({ ...rename(field, value), operator })),
    )
  }

  toString(): string {
    return this.requirements.map(({ field, operator, value }) => `${field}${operator}${escapeValue(value)}`).join(',')
  }
}

const escapeValue = (value: string): string => value.replace(/[\\,=]/g, '\\$&')

/** Throws SelectorError. The empty text selects everything. */
export function parseFieldSelector(text: string): FieldSelector {
  const cannot = (part: string): SelectorError =>
    new SelectorError(`invalid selector: '${text}'; can't understand '${part}'`)
  const requirements: FieldRequirement[] = []
  for (const part of splitTerms(text)) {
    if (part === '') continue
    const match = /^(.*?)(!=|==|=)(.*)$/s.exec(part)
    if (match === null) throw cannot(part)
    const [, field, operator, value] = match as unknown as [string, string, string, string]
    requirements.push({ field, operator: operator === '!=' ? '!=' : '=', value: unescapeValue(value) })
  }
  return new FieldSelector(requirements)
}

/** At commas that no backslash precedes. */
function splitTerms(text: string): string[] {
  const terms: string[] = []
  let term = ''
  for (let i = 0; i < text.length; i++) {
    const c = text[i]!
    if (c === ',') {
      terms.push(term)
      term = ''
    } else if (c === '\\' && i + 1 < text.length) term += c + text[++i]
    else term += c
  }
  return [...terms, term]
}

function unescapeValue(value: string): string {
  let text = ''
  for (let i = 0; i < value.length; i++) {
    const c = value[i]!
    if (c === '\\') {
      const next = value[++i]
      if (next !== '\\' && next !== ',' && next !== '=')
        throw new SelectorError(`invalid field selector: invalid escape sequence: \\${next ?? ''}`)
      text += next
    } else if (c === ',' || c === '=')
      throw new SelectorError(`invalid field selector: unescaped character in value: ${c}`)
    else text += c
  }
  return text
}
