import { readFileSync } from 'node:fs'
import t from 'tap'
import { BuiltinSchemas } from '#keelson/api/builtin-schema.js'
import { planOf, type TypePlan, zeroValue } from '#keelson/api/json/type-plan.js'

/** Written by hand in src/api/object.ts, since custom resources have them too. */
const BY_HAND = /\.meta\.v1\.(?:ObjectMeta|OwnerReference|ManagedFieldsEntry)$/

/** Field by field, what is declared behind the colon. */
function declarations(text: string): Map<string, Map<string, string>> {
  const found = new Map<string, Map<string, string>>()
  for (const [, name = '', body = ''] of text.matchAll(/^export type (\w+) = \{\n((?: {2}.*\n)*)\}$/gm)) {
    const lines = body.split('\n').filter((line) => line !== '')
    const fields = lines.map((line): [string, string] => {
      const colon = line.indexOf('?: ')
      return [line.slice(2, colon).replaceAll('"', ''), line.slice(colon + 3)]
    })
    found.set(name, new Map(fields))
  }
  return found
}

/** Of a list its items, of a map its values. */
function elementOf(type: TypePlan): TypePlan | undefined {
  return type.op === 'list' ? type.items : type.op === 'map' ? type.values : undefined
}

t.test(
  'a field is declared as null exactly where decoding leaves null, and so is what lists and maps hold',
  async (t) => {
    const schemas = new BuiltinSchemas()
    const wrong: string[] = []
    let [checked, nullable] = [0, 0]
    for (const packageName of schemas.packageNames()) {
      const file = packageName.split('.').slice(-2).join('.')
      const declared = declarations(readFileSync(`src/api/generated/kinds/${file}.ts`, 'utf8'))
      for (const definition of schemas.definitionNames(packageName)) {
        const schema = schemas.definition(definition)
        if (schema?.kind !== 'struct' || BY_HAND.test(definition)) continue
        const fields = declared.get(definition.slice(packageName.length + 1)) ?? new Map<string, string>()
        for (const { name, type, absent } of planOf(schema).inOrder) {
          const isNull = absent === 'null' || (absent === 'zero' && zeroValue(type) === null)
          const said = fields.get(name) ?? 'nothing'
          const whole = said.replace(/ \| null$/, '')
          const element = elementOf(type)
          const holdsNull = element !== undefined && zeroValue(element) === null
          if ((said !== whole) !== isNull || / \| null(?:\)\[\]| \})$/.test(whole) !== holdsNull || said === 'nothing')
            wrong.push(`${definition}.${name} is declared as ${said}`)
          checked++
          if (isNull) nullable++
        }
      }
    }
    t.same(wrong, [])
    t.ok(checked > 4_900 && nullable > 300, `${checked} fields, of which ${nullable} can be null`)
  },
)
