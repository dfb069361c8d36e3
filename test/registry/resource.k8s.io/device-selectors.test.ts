/** Selectors of devices: what they can cost by Kubernetes' numbers, and what is said of those that are wrong. */
import t from 'tap'
import { compile } from '#keelson/api/cel/program.js'
import { FieldPath } from '#keelson/api/field-error.js'
import { DEVICE_ENVIRONMENT, selectorErrors } from '#keelson/registry/resource.k8s.io/device-selectors.js'

/** Estimates that kube-apiserver makes. */
const COSTS: readonly (readonly [number, string])[] = [
  [6, 'device.attributes["no-such-domain"].noSuchAttr.isGreaterThan(quantity("0"))'],
  [6, 'device.attributes["no-such-domain"]["noSuchAttr"].isGreaterThan(quantity("0"))'],
  [3, '"dra.example.com" in device.attributes'],
  [2, 'device.driver == ""'],
  [4, 'device.driver == "dra.example.com"'],
  [4, 'device.attributes["dra.example.com"].name'],
  [4, 'device.attributes["dra.example.com"]["name"]'],
  [15, 'cel.bind(dra, device.attributes["dra.example.com"], dra.name)'],
  [5, 'device.attributes["dra.example.com"].name > 0'],
  [5, 'device.attributes["dra.example.com"].name == "fish"'],
  [6, 'device.attributes["dra.example.com"].name.isGreaterThan(semver("0.0.1"))'],
  [7, 'device.attributes["dra.example.com"].name.isGreaterThan(semver("v0.0.1", true)) && isSemver("v1.0.0", true)'],
  [6, 'device.capacity["dra.example.com"].name.isGreaterThan(quantity("1Ki"))'],
  [
    10,
    '"name" in device.capacity["dra.example.com"] && device.capacity["dra.example.com"].name.isGreaterThan(quantity("1Ki"))',
  ],
  [
    11,
    '!("name" in device.capacity["dra.example.com"]) || device.capacity["dra.example.com"].name.isGreaterThan(quantity("1Ki"))',
  ],
  [
    12,
    'device.attributes["dra.example.com"].a && device.attributes["dra.example.com"].b && device.attributes["dra.example.com"].c',
  ],
  [164, 'device.attributes.exists_one(x, x == "dra.example.com")'],
  [133, 'device.attributes["dra.example.com"].exists_one(x, x == "services")'],
  [19, 'device.attributes["dra.example.com"].services.split("example").size() >= 2'],
  [18, 'device.attributes["dra.example.com"].services.matches("[^a]?sym")'],
  [164, 'device.capacity.exists_one(x, x == "dra.example.com")'],
  [133, 'device.capacity["dra.example.com"].exists_one(x, x == "memory")'],
  [3, 'device.allowMultipleAllocations == true'],
]

t.test('selectors are estimated to cost what kube-apiserver estimates', async (t) => {
  for (const [cost, expression] of COSTS) {
    const { program, errors } = compile(expression, DEVICE_ENVIRONMENT)
    t.equal(program?.estimatedCost.max ?? errors, cost, expression)
  }
})

const TEN = '[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]'
const errorsOf = (expression: string): string[] =>
  selectorErrors([{ cel: { expression } }], FieldPath.of('spec')).map(({ type, detail }) => `${type}: ${detail}`)

t.test('wrong selectors are refused with the words of kube-apiserver', async (t) => {
  t.same(errorsOf('device.attributes["dra.example.com"].name'), [], 'an attribute alone may be a bool')
  t.same(errorsOf('1'), ['FieldValueInvalid: must evaluate to bool or the unknown type, not int'])
  t.match(errorsOf('noSuch')[0], /^FieldValueInvalid: compilation failed: ERROR: <input>:1:1: undeclared reference/)
  t.match(errorsOf('?!')[0], /^FieldValueInvalid: compilation failed: ERROR: <input>:1:1: Syntax error/)
  const deep = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].reduceRight((body, x) => `${TEN}.all(${x}, ${body})`, 'a < b')
  t.same(errorsOf(deep), ['FieldValueForbidden: too complex, exceeds cost limit'])
  t.same(errorsOf('x'.repeat(10 * 1024 + 1)), ['FieldValueTooLong: may not be more than 10240 bytes'])
})
