import t from 'tap'
import type { KubeObject } from '#keelson/api/object.js'
import { rulesOf } from '#keelson/registry/rules-table.js'
import { requestContext } from '../../../support/request-context.js'

const context = requestContext({ namespace: '' })
const rules = rulesOf({ group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions' })
type Tree = Record<string, unknown>

const definition = (spec: Tree = {}, version: Tree = {}, schema: Tree = { type: 'object' }): KubeObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  metadata: { name: 'as.x.example.com' },
  spec: {
    group: 'x.example.com',
    scope: 'Namespaced',
    names: { plural: 'as', kind: 'A' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema }, ...version }],
    ...spec,
  },
})

const named = (errors: readonly { field: string; type: string }[]): string[] =>
  errors.map(({ field, type }) => `${field}|${type.replace('FieldValue', '')}`).sort()

function causes(object: KubeObject): string[] {
  rules.setDefaults?.(object)
  rules.prepareForCreate?.(object, context)
  return named(rules.validate?.(object, context) ?? [])
}

const SCHEMA = 'spec.validation.openAPIV3Schema'
/** Of a property `a` of the root. */
const ofProperty = (a: Tree, required?: string[]): string[] =>
  causes(
    definition({}, {}, { type: 'object', properties: { a }, ...(required === undefined ? {} : { required }) }),
  ).map((cause) => cause.replace(`${SCHEMA}.properties[a]`, ''))

t.test('a definition says what a group, names and versions are', (t) => {
  const version = (name: string, storage = false): Tree => ({
    name,
    served: true,
    storage,
    schema: { openAPIV3Schema: { type: 'object' } },
  })
  const cases: [string, KubeObject, string[]][] = [
    ['good', definition(), []],
    ['group', definition({ group: 'x' }), ['metadata.name|Invalid', 'spec.group|Invalid']],
    ['no group', definition({ group: '' }), ['metadata.name|Invalid', 'spec.group|Required']],
    ['scope', definition({ scope: 'Other' }), ['spec.scope|NotSupported']],
    ['no scope', definition({ scope: '' }), ['spec.scope|Required']],
    [
      'no names',
      definition({ names: {} }),
      [
        'metadata.name|Invalid',
        'spec.names.kind|Required',
        'spec.names.listKind|Required',
        'spec.names.plural|Required',
        'spec.names.singular|Required',
      ],
    ],
    [
      'bad names',
      definition({
        names: { plural: 'as', kind: 'A', listKind: 'A', singular: 'A!', shortNames: ['B'], categories: ['c', 'C'] },
      }),
      [
        'spec.names.categories[1]|Invalid',
        'spec.names.listKind|Invalid',
        'spec.names.shortNames[0]|Invalid',
        'spec.names.singular|Invalid',
      ],
    ],
    [
      'two storage versions',
      definition({ versions: [version('v1', true), version('v2', true)] }),
      ['spec.versions|Invalid', 'status.storedVersions|Invalid'],
    ],
    ['one name twice', definition({ versions: [version('v1', true), version('v1')] }), ['spec.versions|Invalid']],
    ['no versions', definition({ versions: [] }), ['spec.versions|Invalid', 'status.storedVersions|Invalid']],
    ['version name', definition({}, { name: 'V 1' }), ['spec.versions[0].name|Invalid', 'spec.version|Invalid']],
    ['no schema', definition({}, { schema: null }), ['spec.versions[0].schema.openAPIV3Schema|Required']],
    ['warning', definition({}, { deprecationWarning: 'x' }), ['spec.versions[0].deprecationWarning|Invalid']],
    [
      'line break',
      definition({}, { deprecated: true, deprecationWarning: 'a\nb' }),
      ['spec.versions[0].deprecationWarning|Invalid'],
    ],
    ['unknown fields', definition({ preserveUnknownFields: true }), ['spec.preserveUnknownFields|Invalid']],
    ['conversion', definition({ conversion: {} }), ['spec.conversion.strategy|Required']],
    [
      'no webhook',
      definition({ conversion: { strategy: 'Webhook' } }),
      ['spec.conversion.conversionReviewVersions|Required', 'spec.conversion.webhookClientConfig|Required'],
    ],
    [
      'webhook',
      definition({
        conversion: {
          strategy: 'Webhook',
          webhook: { clientConfig: { url: 'http://a' }, conversionReviewVersions: ['v7', 'v7'] },
        },
      }),
      [
        'spec.conversion.conversionReviewVersions[1]|Invalid',
        'spec.conversion.conversionReviewVersions|Invalid',
        'spec.conversion.webhookClientConfig.url|Invalid',
      ],
    ],
    [
      'webhook without need',
      definition({ conversion: { strategy: 'None', webhook: { clientConfig: { url: 'https://a' } } } }),
      ['spec.conversion.webhookClientConfig|Forbidden'],
    ],
    [
      'community group',
      definition({ group: 'x.k8s.io' }),
      ['metadata.annotations[api-approved.kubernetes.io]|Required', 'metadata.name|Invalid'],
    ],
  ]
  for (const [title, object, expected] of cases) t.same(causes(object), expected, title)
  t.end()
})

t.test('versions have columns, subresources and fields to select by', (t) => {
  const schema = {
    type: 'object',
    properties: {
      spec: { type: 'object', properties: { n: { type: 'integer' }, l: { type: 'array', items: { type: 'string' } } } },
    },
  }
  const of = (parts: Tree): string[] => causes(definition({}, parts, schema))
  t.same(of({ additionalPrinterColumns: [{ name: 'N', type: 'integer', jsonPath: '.spec.n' }] }), [])
  t.same(of({ additionalPrinterColumns: [{ type: 'text', format: 'odd', jsonPath: 'spec' }] }), [
    'spec.additionalPrinterColumns[0].JSONPath|Invalid',
    'spec.additionalPrinterColumns[0].format|Invalid',
    'spec.additionalPrinterColumns[0].name|Required',
    'spec.additionalPrinterColumns[0].type|Invalid',
  ])
  t.same(of({ subresources: { scale: { specReplicasPath: '.status.n', labelSelectorPath: 'x' } } }), [
    'spec.subresources.scale.labelSelectorPath|Invalid',
    'spec.subresources.scale.specReplicasPath|Invalid',
    'spec.subresources.scale.statusReplicasPath|Required',
  ])
  const fields = ['.spec.n', '.spec.n', '.spec.l', '.spec.none', '', '.metadata.name']
  t.same(of({ selectableFields: fields.map((jsonPath) => ({ jsonPath })) }), [
    'spec.selectableFields[1].jsonPath|Duplicate',
    'spec.selectableFields[2].jsonPath|Invalid',
    'spec.selectableFields[3].jsonPath|Invalid',
    'spec.selectableFields[4].jsonPath|Required',
    'spec.selectableFields[5].jsonPath|Invalid',
  ])
  t.end()
})

t.test('a schema is structural', (t) => {
  const root = (schema: Tree): string[] => causes(definition({}, {}, schema))
  t.same(root({}), [`${SCHEMA}.type|Required`])
  t.same(root({ type: 'string' }), [`${SCHEMA}.type|Invalid`])
  t.same(root({ type: 'object', nullable: true }), [`${SCHEMA}.nullable|Forbidden`])
  t.same(root({ type: 'object', additionalProperties: { type: 'string' } }), [
    `${SCHEMA}.additionalProperties|Forbidden`,
  ])
  t.same(
    root({ type: 'object', properties: { metadata: { type: 'object', properties: { name: { type: 'string' } } } } }),
    [],
  )
  t.same(
    root({ type: 'object', properties: { metadata: { type: 'object', properties: { labels: { type: 'object' } } } } }),
    [`${SCHEMA}.properties[metadata]|Forbidden`],
  )
  t.same(root({ type: 'object', anyOf: [{ properties: { b: { minimum: 1 } } }] }), [`${SCHEMA}.properties[b]|Required`])
  const cases: [Tree, string[]][] = [
    [{}, ['.type|Required']],
    [{ type: 'text' }, ['.type|NotSupported']],
    [{ type: 'array' }, ['.items|Required']],
    [{ type: 'array', items: {} }, ['.items.type|Required']],
    [{ 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] }, []],
    [
      { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'number' }] },
      ['.anyOf[0].type|Forbidden', '.anyOf[1].type|Forbidden'],
    ],
    [
      { type: 'object', not: { description: 'x', nullable: true } },
      ['.not.description|Forbidden', '.not.nullable|Forbidden'],
    ],
    [{ type: 'string', pattern: '(' }, ['.pattern|Invalid']],
    [{ type: 'string', pattern: 'x{1000}'.repeat(980) }, ['.pattern|Invalid']],
    [{ type: 'string', pattern: '^[a-z0-9]([-a-z0-9.]{0,253}[a-z0-9])?$' }, []],
    [{ type: 'object', 'x-kubernetes-embedded-resource': true }, ['.properties|Required']],
    [{ type: 'object', uniqueItems: true }, ['.uniqueItems|Forbidden']],
    [{ type: 'object', $ref: '#/x' }, ['.$ref|Forbidden']],
    [
      { type: 'object', properties: { b: { type: 'string' } }, additionalProperties: { type: 'string' } },
      ['.additionalProperties|Forbidden'],
    ],
    [{ type: 'string', 'x-kubernetes-list-type': 'set' }, ['.type|Invalid']],
    [
      { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'bag' },
      ['.x-kubernetes-list-type|NotSupported'],
    ],
    [
      { type: 'array', items: { type: 'object' }, 'x-kubernetes-list-type': 'set' },
      ['.items.x-kubernetes-map-type|Invalid'],
    ],
    [
      {
        type: 'array',
        items: { type: 'object', properties: { k: { type: 'object' } } },
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['k', 'l'],
      },
      [
        '.items.properties[k].default|Required',
        '.items.properties[k].type|Invalid',
        '.x-kubernetes-list-map-keys|Invalid',
      ],
    ],
    [{ type: 'object', 'x-kubernetes-map-type': 'odd' }, ['.x-kubernetes-map-type|NotSupported']],
    [
      {
        type: 'object',
        'x-kubernetes-validations': [{ rule: ' ' }, { rule: 'true', reason: 'Odd', fieldPath: '.no' }],
      },
      [
        '.x-kubernetes-validations[0].rule|Required',
        '.x-kubernetes-validations[1].fieldPath|Invalid',
        '.x-kubernetes-validations[1].reason|NotSupported',
      ],
    ],
  ]
  for (const [schema, expected] of cases) t.same(ofProperty(schema), expected, JSON.stringify(schema))
  t.end()
})

t.test('defaults are values of their schema', (t) => {
  const cases: [Tree, string[]][] = [
    [{ type: 'integer', maximum: 3, default: 3 }, []],
    [{ type: 'integer', maximum: 3, exclusiveMaximum: true, default: 3 }, ['.default|Invalid']],
    [{ type: 'integer', multipleOf: 2, minimum: 5, default: 3 }, ['.default|Invalid', '.default|Invalid']],
    [{ type: 'string', default: 3 }, ['.default|TypeInvalid']],
    [{ type: 'string', enum: ['a'], default: 'b' }, ['.default|NotSupported']],
    [{ type: 'string', maxLength: 1, pattern: '^a', default: 'bb' }, ['.default|TooLong']],
    [{ type: 'object', required: ['b'], properties: { b: { type: 'string' } }, default: {} }, ['.default.b|Required']],
    [{ type: 'object', properties: { b: { type: 'string' } }, default: { c: 1 } }, ['.default|Invalid']],
    [
      { type: 'array', maxItems: 1, items: { type: 'integer' }, default: [1, 'x'] },
      ['.default.[1]|TypeInvalid', '.default|TooMany'],
    ],
    [
      { type: 'object', oneOf: [{ required: ['x'] }, { required: ['y'] }], default: {} },
      ['.default.x|Required', '.default|Invalid'],
    ],
    [{ 'x-kubernetes-int-or-string': true, default: true }, []],
    [{ type: 'object', additionalProperties: true, default: { a: { b: 1 } } }, ['.default|Invalid']],
    [{ type: 'object', 'x-kubernetes-preserve-unknown-fields': true, default: { a: { b: 1 } } }, []],
  ]
  for (const [schema, expected] of cases) t.same(ofProperty(schema), expected, JSON.stringify(schema))
  t.end()
})

t.test('an update keeps what makes up the resource, and may go on doing what was done', (t) => {
  const stored = definition({}, {}, { type: 'object', properties: { a: {} } })
  rules.setDefaults?.(stored)
  rules.prepareForCreate?.(stored, context)
  const update = (change: (spec: Tree) => void, old = stored): string[] => {
    const object = structuredClone(old)
    change(object['spec'] as Tree)
    rules.prepareForUpdate?.(object, old, context)
    return named(rules.validateUpdate?.(object, old, context) ?? [])
  }
  t.same(
    update((spec) => Object.assign(spec, { group: 'y.example.com' })),
    ['spec.group|Invalid', `${SCHEMA}.properties[a].type|Required`],
    'what prunes must be structural',
  )
  const established = definition()
  rules.setDefaults?.(established)
  rules.prepareForCreate?.(established, context)
  Object.assign(established['status'] as Tree, { conditions: [{ type: 'Established', status: 'True' }] })
  t.same(
    update((spec) => Object.assign(spec, { scope: 'Cluster' }), established),
    ['spec.scope|Invalid'],
  )
  t.same(
    update((spec) => Object.assign((spec['versions'] as Tree[])[0]!, { name: 'v2' }), established),
    ['status.storedVersions[0]|Invalid'],
  )
  t.end()
})

t.test('defaults of embedded objects result in objects', (t) => {
  const resource = (properties: Tree, more: Tree = {}): Tree => ({
    type: 'object',
    'x-kubernetes-embedded-resource': true,
    properties,
    ...more,
  })
  const text = (value: unknown): Tree => ({ type: 'string', default: value })
  const metadata = (properties: Tree): Tree => ({ metadata: { type: 'object', properties } })
  t.same(ofProperty(resource({ kind: text('Pod') })), [])
  t.same(ofProperty(resource({ kind: text('a pod') })), ['.properties[kind].default|Invalid'])
  t.same(ofProperty(resource(metadata({ name: text('ok') }))), [])
  t.same(ofProperty(resource(metadata({ name: text('..') }))), [
    '.properties[metadata].properties[name].default|Invalid',
  ])
  const labels = { type: 'object', additionalProperties: { type: 'string' }, default: { 'a b': 'c' } }
  t.same(ofProperty(resource(metadata({ labels }))), ['.properties[metadata].properties[labels].default|Invalid'])
  const whole = resource({ spec: { type: 'object' } }, { default: { kind: 'K', spec: {} } })
  t.same(ofProperty(whole), ['.default.apiVersion|Required'])
  t.end()
})

t.test('what an established definition has that is wrong it may keep, and not get', (t) => {
  const established = (spec: Tree, parts: Tree = {}): ReturnType<typeof definition> => {
    const object = definition(spec, parts, {
      type: 'object',
      properties: Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`f${i}`, { type: 'string' }])),
    })
    rules.setDefaults?.(object)
    rules.prepareForCreate?.(object, context)
    Object.assign(object['status'] as Tree, { conditions: [{ type: 'Established', status: 'True' }] })
    return object
  }
  const update = (object: ReturnType<typeof definition>, old: ReturnType<typeof definition>): string[] =>
    named(rules.validateUpdate?.(object, old, context) ?? [])
  const webhook = (caBundle?: string): ReturnType<typeof definition> => {
    const clientConfig = { url: 'https://a.example', ...(caBundle === undefined ? {} : { caBundle }) }
    return established({
      conversion: { strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions: ['v1'] } },
    })
  }
  const wrong = Buffer.from('no certificate').toString('base64')
  t.same(update(webhook(wrong), webhook()), ['spec.conversion.webhookClientConfig.caBundle|Invalid'])
  t.same(update(webhook(wrong), webhook(wrong)), [])
  const selectable = (...fields: number[]): Tree => ({ selectableFields: fields.map((i) => ({ jsonPath: `.f${i}` })) })
  const many = established({}, selectable(0, 1, 2, 3, 4, 5, 6, 7, 8))
  t.same(update(structuredClone(many), many), [])
  t.same(update(many, established({}, selectable(0))), ['spec.selectableFields|TooMany'])
  t.end()
})

t.test('formats that nobody checks are warned of', (t) => {
  const object = definition(
    {},
    {},
    { type: 'object', properties: { a: { type: 'string', format: 'odd' }, b: { type: 'integer', format: 'int32' } } },
  )
  t.same(rules.warningsOnCreate?.(object, context), ['unrecognized format "odd"'])
  t.end()
})

t.test('rules are expressions about values of their schema', (t) => {
  const rule = (expression: string, more: Tree = {}): string[] =>
    ofProperty({
      type: 'object',
      properties: {
        n: { type: 'integer' },
        'a-b': { type: 'string' },
        namespace: { type: 'string' },
        when: { type: 'string', format: 'date-time' },
        any: { 'x-kubernetes-preserve-unknown-fields': true },
      },
      'x-kubernetes-validations': [{ rule: expression, ...more }],
    }).map((cause) => cause.replace('.x-kubernetes-validations[0]', ''))
  t.same(rule('self.n > 1 && self.a__dash__b == "x" && self.__namespace__ != ""'), [])
  t.same(rule('self.when > timestamp("2020-01-01T00:00:00Z")'), [])
  t.same(rule('self.nope > 1'), ['.rule|Invalid'])
  t.same(rule('self.any == 1'), ['.rule|Invalid'], 'nothing is known of it')
  t.same(rule('self.n'), ['.rule|Invalid'])
  t.same(rule('self.n >'), ['.rule|Invalid'])
  t.same(rule('oldSelf.n == self.n'), [])
  t.same(rule('oldSelf.hasValue()', { optionalOldSelf: true }), [])
  t.same(rule('self.n > 1', { optionalOldSelf: true }), ['.optionalOldSelf|Invalid'])
  t.same(rule('self.n > 1', { messageExpression: 'self.n' }), ['.messageExpression|Invalid'])
  const items = {
    type: 'object',
    properties: { n: { type: 'integer' } },
    'x-kubernetes-validations': [{ rule: 'self == oldSelf' }],
  }
  t.same(ofProperty({ type: 'array', items }), ['.items.x-kubernetes-validations[0].rule|Invalid'])
  t.end()
})
