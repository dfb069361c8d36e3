import t from 'tap'
import { admissionEnvironment } from '#keelson/api/cel/admission-environment.js'
import { checkExpression } from '#keelson/api/cel/checker.js'
import { BOOL, type CelType, INT, listOf, mapOf, objectOf, optionalOf, STRING } from '#keelson/api/cel/types.js'

const policy = admissionEnvironment({
  params: true,
  authorizer: true,
  patches: true,
  variables: new Map<string, CelType>([['limit', INT]]),
})

t.test('what Kubernetes accepts is accepted', (t) => {
  const good = [
    'true',
    "object.spec.replicas <= 5 && has(object.metadata.labels) && 'a' in object.metadata.labels",
    'object.spec.template.spec.containers.all(c, c.image.startsWith("registry/") || !has(c.ports))',
    'object.spec.containers.exists_one(c, c.name == "x") ? 1 < 2 : false',
    'object.spec.containers.map(c, c.image).filter(i, i.matches("^a.*$")).size() > 0',
    'object.metadata.labels.all(k, v, k != v)',
    "request.userInfo.groups.exists(g, g == 'system:masters')",
    "!request.userInfo.username.startsWith('system:') && request.dryRun == false",
    "authorizer.group('apps').resource('deployments').namespace('x').check('create').allowed()",
    "authorizer.requestResource.check('delete').errored() == false",
    "authorizer.path('/healthz').check('get').reason() == ''",
    'namespaceObject.metadata.labels["env"] == "prod" && params.max > variables.limit',
    "quantity(object.spec.memory).isGreaterThan(quantity('1Gi')) || isQuantity('x')",
    "url('https://a').getHost() == 'a' && ip('1.2.3.4').family() == 4 && cidr('10.0.0.0/8').containsIP('10.1.1.1')",
    "timestamp('2020-01-01T00:00:00Z') + duration('1h') > timestamp('2019-01-01T00:00:00Z')",
    'object.?spec.?replicas.orValue(1) == 1 && object[?"a"].hasValue()',
    'cel.bind(x, object.spec, x.replicas > 1)',
    '[1, 2, 3].sum() == 6 && {"a": 1}["a"] == 1 && [1] + [2] == [1, 2]',
    '!format.dns1123Label().validate(object.metadata.name).hasValue()',
    'oldObject == null || object != oldObject',
    'string(1) + "a" == "1a" && int("1") == 1 && double(1) < 2.5 && 1u < 2u && 7 % 2 == 1',
    "'\\u00e9' == r'\\d' || b'a' == b'a' || '''a\nb''' == \"\"\"c\"\"\"",
    'type(object) == string // a comment',
    'sets.contains([1, 2], [1]) && optional.of(1).optMap(x, x + 1).value() == 2',
    'Object{spec: Object.spec{replicas: 1}} == null || [JSONPatch{op: "add", path: jsonpatch.escapeKey("a"), value: 1}] != []',
    '-object.a < 0 && !!true && - 1 < 0x1F',
    'google.protobuf.Timestamp == type(timestamp("2020-01-01T00:00:00Z"))',
  ]
  for (const expression of good) t.same(checkExpression(expression, policy).errors, [], expression)
  t.end()
})

t.test('what cannot be read is a syntax error, with its place', (t) => {
  const bad: [string, number][] = [
    ['', 1],
    ['Not Valid!', 5],
    ['object.spec. +', 14],
    ["'a' IN object", 5],
    ['(1', 3],
    ['[1, 2', 6],
    ['a ? b', 6],
    ["'a", 1],
    ["'\\z'", 1],
    ['for == 1', 1],
    ['a @ b', 3],
    ['{1: 2, 3}', 9],
    ['!-1', 2],
    ['f(1,)', 5],
  ]
  for (const [expression, at] of bad)
    t.match(checkExpression(expression, policy).errors[0], new RegExp(`^at ${at}: Syntax error`), expression)
  t.match(checkExpression(`${'('.repeat(300)}1${')'.repeat(300)}`, policy).errors[0], /nested too deeply/)
  t.end()
})

t.test('names, functions, fields and types that do not fit are told', (t) => {
  const bad: [string, RegExp][] = [
    ['OBJECT.spec == 1', /undeclared reference to 'OBJECT'/],
    ['HAS(object.spec)', /undeclared reference to 'HAS'/],
    ["object.a.STARTSWITH('x')", /undeclared reference to 'STARTSWITH'/],
    ['request.nope == 1', /undefined field 'nope'/],
    ['variables.other == 1', /undefined field 'other'/],
    ['request.name == 1', /no matching overload/],
    ["request.name + 1 == 'a'", /no matching overload/],
    ['request.name && true', /no matching overload/],
    ['request.name ? true : false', /no matching overload/],
    ["request.dryRun.startsWith('x')", /no matching overload for 'startsWith'/],
    ['request.name.nope', /does not support field selection/],
    ["1 in ['a']", /no matching overload/],
    ["request.name.matches('(')", /invalid matches argument/],
    ['has(request)', /invalid argument to has/],
    ['request.dryRun.all(x, true)', /cannot be range/],
    ['Other{a: 1} == null', /undeclared reference to 'Other'/],
    ['x.all(y, y)', /undeclared reference to 'x'/],
    ['[1].all(y, z)', /undeclared reference to 'z'/],
  ]
  for (const [expression, message] of bad)
    t.match(checkExpression(expression, policy).errors.join(), message, expression)
  const plain = admissionEnvironment({ params: false, authorizer: false })
  for (const name of ['params', 'authorizer', 'variables'])
    t.match(checkExpression(`${name} == null`, plain).errors, [/undeclared reference/])
  t.end()
})

t.test('the result is of a type that is wanted, and old values are known by their use', (t) => {
  const self = objectOf('self', { n: INT, l: listOf(STRING), m: mapOf(INT) })
  const of = (expression: string, old: CelType = self, wanted = BOOL) =>
    checkExpression(
      expression,
      {
        variables: new Map([
          ['self', self],
          ['oldSelf', old],
        ]),
      },
      [wanted],
    )
  t.same(of('self.n > oldSelf.n').errors, [])
  t.ok(of('self.n > oldSelf.n').names.has('oldSelf'))
  t.notOk(of('self.l.all(oldSelf, oldSelf == "a")').names.has('oldSelf'), 'another of that name')
  t.same(of('oldSelf.hasValue() ? self.n == oldSelf.value().n : true', optionalOf(self)).errors, [])
  t.match(of('oldSelf.hasValue()').errors, [/no matching overload for 'hasValue'/])
  t.match(of('self.n').errors, [/must evaluate to bool, not int/])
  t.same(of("'n is ' + string(self.n)", self, STRING).errors, [])
  t.same(of("self.m['a'] == 1 && self.l[0] == 'x'").errors, [])
  t.match(of("self.l['a'] == 'x'").errors, [/no matching overload/])
  t.match(of('self.m.a.b == 1').errors, [/does not support field selection/])
  t.end()
})
