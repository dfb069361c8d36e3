/** An object's YAML: keys in a colour of their own, and without managedFields unless they are asked for. */
import { element } from './view.js'

const INDENT = /^(?: |- )*/
const KEY = /^([^\s:][^:]*|"[^"]*")(:(?: .*)?)$/

export function showYaml(target, text, withManagedFields) {
  const lines = (withManagedFields ? text : withoutManagedFields(text)).trimEnd().split('\n')
  const pieces = lines.flatMap((line) => {
    const [indent] = INDENT.exec(line)
    const [, key, rest] = KEY.exec(line.slice(indent.length)) ?? []
    return key === undefined ? [`${line}\n`] : [indent, element('span', { className: 'key' }, key), `${rest}\n`]
  })
  target.replaceChildren(...pieces)
}

/** The server writes them below `metadata`, items as far to the left as their key. */
function withoutManagedFields(text) {
  let inside = false
  return text
    .split('\n')
    .filter((line) => {
      if (line === '  managedFields:') inside = true
      else if (inside && !/^ {2}(?:- | )/.test(line)) inside = false
      return !inside
    })
    .join('\n')
}
