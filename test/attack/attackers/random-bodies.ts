/**
 * Bytes for every parser: bodies in JSON, YAML and protobuf, four kinds of patches, headers, selectors, tokens, revisions,
 * expressions. Everything is a dry run. What it is answered is success or a 4xx, and it is answered.
 */
import { Catalogue, type ResourceInfo } from '#keelson/api/catalogue.js'
import type { Json, JsonObject } from '#keelson/api/object.js'
import { encodeBuiltin } from '#keelson/api/protobuf/builtin.js'
import { randomJson, randomObject } from '../../fuzz/random-json.js'
import type { Random } from '../../support/fuzz.js'
import { SAMPLES } from '../../support/sample-objects.js'
import { type Attack, type Attacker, type Lane, place, runLanes } from '../attack.js'
import { requestBytes, WireKeeper, type WireRequest } from '../wire.js'

const LANES = 3
const DEADLINE_MS = 30_000
const C1 = '/api/v1/namespaces/dev/configmaps/c1'
const PATCHES = [
  'merge-patch+json',
  'json-patch+json',
  'strategic-merge-patch+json',
  'apply-patch+yaml',
  'apply-patch+cbor',
]
const WORDS = [
  ...'/,;=!()<>"\\%.*-+ \t[]{}:|&?^$#@~`\'\0é',
  ...['true', 'null', '1e999', '-0', '0x1', '1.', '\ud800', '\u2028', '__proto__', 'constructor', '9'.repeat(400)],
  ...[
    'in',
    'notin',
    'metadata.name',
    'metadata.namespace',
    'app',
    'v1',
    'x.io/y',
    '..',
    'application/json',
    'as=Table',
  ],
  ...[
    'q=0.5',
    'g=meta.k8s.io',
    '(a+)+$',
    'a'.repeat(2000),
    '*/*',
    'gzip',
    'All',
    'Strict',
    '2147483648',
    '-1',
    '18446744073709551616',
  ],
]
const EXPRESSIONS = [
  ...[
    'object',
    'oldObject',
    'request',
    'params',
    'self',
    'size(',
    ')',
    '.metadata',
    '.name',
    '[0]',
    '["a"]',
    '==',
    '&&',
    '||',
  ],
  ...[
    '? ',
    ': ',
    '!',
    '-',
    '+ ',
    '"',
    "'",
    'r"',
    'b"',
    '.all(x, ',
    '.map(x, ',
    '.matches("(a*)*b")',
    'has(',
    'in ',
    '1',
    '1u',
  ],
  ...[
    '1.5e300',
    'timestamp("x")',
    'duration("1h")',
    'quantity("1Ki")',
    'url("x")',
    'ip("::")',
    'cel.bind(a, ',
    '{',
    '}',
    '[',
    ']',
  ],
]
const PARAMETERS = [
  ...[
    'labelSelector',
    'fieldSelector',
    'limit',
    'continue',
    'resourceVersion',
    'resourceVersionMatch',
    'sendInitialEvents',
  ],
  ...[
    'timeoutSeconds',
    'allowWatchBookmarks',
    'pretty',
    'fieldManager',
    'fieldValidation',
    'force',
    'gracePeriodSeconds',
  ],
  ...['propagationPolicy', 'preconditions', 'shardSelector', 'includeObject'],
]

const words = (random: Random, most: number, from: readonly string[] = WORDS): string =>
  Array.from({ length: random.below(most) + 1 }, () => random.pick(from)).join('')

/** Some bytes changed, taken out, doubled or put in. */
function mutate(random: Random, bytes: Buffer): Buffer {
  let mutated = Buffer.from(bytes)
  for (let i = random.below(4); i >= 0 && mutated.byteLength > 0; i--) {
    const at = random.below(mutated.byteLength)
    const piece = mutated.subarray(at, at + random.below(40))
    switch (random.below(5)) {
      case 0:
        mutated[at] = random.below(256)
        break
      case 1:
        mutated = Buffer.concat([mutated.subarray(0, at), mutated.subarray(at + piece.byteLength)])
        break
      case 2:
        mutated = Buffer.concat([mutated, Buffer.concat(Array<Buffer>(random.below(50)).fill(piece))])
        break
      case 3:
        mutated = Buffer.concat([mutated.subarray(0, at), Buffer.from(words(random, 3)), mutated.subarray(at)])
        break
      default:
        mutated = mutated.subarray(0, at)
    }
  }
  return mutated
}

/** A tree with some of its values replaced, dropped or repeated. */
function mutateTree(random: Random, value: Json): Json {
  if (random.chance(6)) return random.chance(50) ? randomJson(random, 2) : words(random, 4)
  if (Array.isArray(value)) {
    const items = value.filter(() => !random.chance(4)).map((item) => mutateTree(random, item))
    return random.chance(5) && items.length > 0 ? Array<Json>(random.below(200) + 1).fill(items[0]!) : items
  }
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value)
    .filter(() => !random.chance(4))
    .map(([key, member]): [string, Json] => [
      random.chance(2) ? words(random, 2) : key,
      mutateTree(random, member as Json),
    ])
  return Object.fromEntries(members)
}

const text = (value: Json): string =>
  JSON.stringify(value, (_, member: unknown) => (typeof member === 'bigint' ? member.toString() : member))

interface Kind {
  readonly collection: string
  readonly sample: JsonObject
}

function kinds(): Kind[] {
  const found: readonly ResourceInfo[] = Catalogue.builtin().servedByDefault().resources
  return found
    .filter(({ verbs }) => verbs.includes('create') && verbs.includes('get'))
    .map(({ group, version, resource, kind, namespaced }) => {
      const { object = {}, name = 'fuzzed' } = SAMPLES[`${group}/${resource}`] ?? {}
      const apiVersion = group === '' ? version : `${group}/${version}`
      const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
      return {
        collection: `${root}${namespaced ? '/namespaces/dev' : ''}/${resource}`,
        sample: { apiVersion, kind, metadata: { name, labels: { a: 'b' }, annotations: { c: 'd' } }, ...object },
      }
    })
}

type Maker = (random: Random, kind: Kind) => WireRequest

const create = (kind: Kind, type: string, body: string | Buffer, query = ''): WireRequest => ({
  method: 'POST',
  target: `${kind.collection}?dryRun=All${query}`,
  headers: [`Content-Type: ${type}`],
  body,
})

const MAKERS: readonly Maker[] = [
  (random, kind) => create(kind, 'application/json', text(mutateTree(random, kind.sample))),
  (random, kind) => create(kind, 'application/json', text(mutateTree(random, kind.sample)), '&fieldValidation=Strict'),
  (random, kind) => create(kind, 'application/json', mutate(random, Buffer.from(text(kind.sample)))),
  (random, kind) => create(kind, 'application/yaml', mutate(random, Buffer.from(text(kind.sample)))),
  (random, kind) =>
    create(kind, 'application/yaml', words(random, 60, [...WORDS, '\n', '  ', '- ', ': ', '&a ', '*a', '!!', '|'])),
  (random, kind) => create(kind, 'application/vnd.kubernetes.protobuf', mutate(random, encodeBuiltin(kind.sample))),
  (random, kind) =>
    create(
      kind,
      random.pick(['application/cbor', words(random, 8).replace(/[^ -~]/g, '')]),
      mutate(random, Buffer.from('k8s\0')),
    ),
  (random) => ({
    method: 'PATCH',
    target: `${C1}?dryRun=All&fieldManager=${encodeURIComponent(safe(words(random, 2)))}&force=true`,
    headers: [`Content-Type: application/${random.pick(PATCHES)}`],
    body: random.chance(50) ? text(randomObject(random, 4)) : mutate(random, Buffer.from(text(randomJson(random, 4)))),
  }),
  (random) => ({
    method: 'PATCH',
    target: `${C1}?dryRun=All`,
    headers: ['Content-Type: application/json-patch+json'],
    body: text(
      Array.from({ length: random.below(30) }, () => ({
        op: random.pick(['add', 'remove', 'replace', 'copy', 'move', 'test', 'x']),
        path: `/${words(random, 3)}`,
        from: random.pick(['', '/metadata', '/data', `/${words(random, 2)}`]),
        value: randomJson(random, 2),
      })),
    ),
  }),
  // Much to do on something wide, which the patch itself brings.
  (random) => ({
    method: 'PATCH',
    target: `${C1}?dryRun=All`,
    headers: ['Content-Type: application/json-patch+json'],
    body: text(longPatch(random)),
  }),
  (random) => ({
    method: 'PATCH',
    target: '/api/v1/namespaces/dev/pods/dp?dryRun=All',
    headers: ['Content-Type: application/strategic-merge-patch+json'],
    body: text(repeatingPatch(random)),
  }),
  (random, kind) => ({
    method: 'GET',
    target: `${kind.collection}?${Array.from({ length: 1 + random.below(4) }, () => `${random.pick(PARAMETERS)}=${encodeURIComponent(safe(words(random, 6)))}`).join('&')}`,
    headers: [`Accept: ${words(random, 5).replace(/[^ -~]/g, '')}`],
  }),
  (random) => ({
    method: 'POST',
    target: '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies?dryRun=All',
    headers: ['Content-Type: application/json'],
    body: text(policy(random)),
  }),
  (random) => ({
    method: 'DELETE',
    target: `${C1}?dryRun=All`,
    headers: ['Content-Type: application/json'],
    body: mutate(random, Buffer.from('{"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"uid":"x"}}')),
  }),
]

function longPatch(random: Random): Json {
  const wide = Object.fromEntries(
    Array.from({ length: random.below(8000) }, (_, i) => [`k${i}`, random.chance(50) ? 'v' : [{}]]),
  )
  const steps: readonly Json[][] = [
    [
      { op: 'copy', from: '/kind', path: '/spare' },
      { op: 'add', path: '/wide/new', value: 'v' },
    ],
    [
      { op: 'move', from: '/wide', path: '/elsewhere' },
      { op: 'move', from: '/elsewhere', path: '/wide' },
    ],
    [
      { op: 'add', path: '/wide/k0', value: [] },
      { op: 'copy', from: '/wide/k0', path: '/wide/k1' },
    ],
  ]
  const step = random.pick(steps)
  const rounds = Array.from({ length: random.below(3000) }, () => (random.chance(95) ? step : random.pick(steps)))
  return [{ op: 'add', path: '/wide', value: wide }, ...rounds.flat()]
}

function repeatingPatch(random: Random): Json {
  const env = Array.from({ length: random.below(8000) }, (_, i) => ({ name: `E${i}`, value: 'v' }))
  const again = Array.from({ length: random.below(6000) }, () => ({ name: 'c', env: [{ name: 'E1', value: 'w' }] }))
  return { spec: { containers: [{ name: 'c', env }, ...again] } }
}

const safe = (value: string): string => value.replace(/\ud800/g, '?')

function policy(random: Random): Json {
  const expression = (): string => (random.chance(10) ? '('.repeat(random.below(5000)) : words(random, 25, EXPRESSIONS))
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: 'fuzzed' },
    spec: {
      matchConstraints: {
        resourceRules: [
          { apiGroups: ['none.example'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['none'] },
        ],
      },
      variables: [{ name: 'v', expression: expression() }],
      matchConditions: [{ name: 'm', expression: expression() }],
      validations: [{ expression: expression(), messageExpression: expression() }],
    },
  }
}

async function strike(attack: Attack, lane: Lane, keeper: WireKeeper, all: readonly Kind[]): Promise<void> {
  const { random } = lane
  const made = random.pick(MAKERS)(random, random.pick(all))
  const bytes = requestBytes({ ...made, token: 'fuzzer' })
  const started = performance.now()
  const answer = await keeper.ask(bytes, { deadlineMs: DEADLINE_MS })
  attack.log.took('random-bodies', performance.now() - started, `${place(attack, lane)}: ${bytes.toString()}`)
  attack.log.count(`random-bodies ${answer.status}`)
  if (answer.status >= 500 && ![501, 503].includes(answer.status))
    attack.log.wrong(
      place(attack, lane),
      `${answer.status} ${answer.body.toString().slice(0, 250)} to ${bytes.toString()}`,
    )
  if (answer.ended === 'timeout' && !attack.signal.aborted)
    attack.log.wrong(place(attack, lane), `no answer within ${DEADLINE_MS} ms to ${bytes.toString()}`)
}

export const randomBodies: Attacker = {
  name: 'random-bodies',
  run: async (attack) => {
    const keepers = new Map<Lane, WireKeeper>()
    const all = kinds()
    await runLanes(attack, 'random-bodies', LANES, (lane) => {
      const keeper = keepers.get(lane) ?? new WireKeeper(attack.server, attack.signal)
      keepers.set(lane, keeper)
      return strike(attack, lane, keeper, all)
    })
  },
}
