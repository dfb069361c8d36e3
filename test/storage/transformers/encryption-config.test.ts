import t from 'tap'
import { describeFieldError } from '#keelson/api/status.js'
import { decodeEncryptionConfiguration } from '#keelson/storage/transformers/encryption-config.js'
import { validateEncryptionConfiguration } from '#keelson/storage/transformers/encryption-config-validation.js'

const KEY_16 = Buffer.alloc(16, 1).toString('base64')
const KEY_32 = Buffer.alloc(32, 1).toString('base64')

interface Block {
  resources?: unknown
  providers?: unknown
}
const aesgcm = { aesgcm: { keys: [{ name: 'k', secret: KEY_16 }] } }
const kms = (change: object = {}) => ({
  kms: { apiVersion: 'v2', name: 'one', endpoint: 'unix:///run/kms.sock', ...change },
})

/** JSON is YAML, so one form serves for both. */
function problems(...blocks: Block[]): string[] {
  const config = decodeEncryptionConfiguration(
    JSON.stringify({ kind: 'EncryptionConfiguration', apiVersion: 'apiserver.config.k8s.io/v1', resources: blocks }),
  )
  return validateEncryptionConfiguration(config).map((e) => `${e.field}: ${describeFieldError(e)}`)
}
const forResources = (...resources: string[]) => problems({ resources, providers: [aesgcm] })
const forProviders = (...providers: object[]) => problems({ resources: ['secrets'], providers })

t.test('reads the file that the documentation of Kubernetes shows', async (t) => {
  const yaml = `
apiVersion: apiserver.config.k8s.io/v1
kind: EncryptionConfiguration
resources:
  - resources: [secrets, configmaps, pandas.awesome.bears.example]
    providers:
      - aesgcm:
          keys:
            - name: key1
              secret: ${KEY_16}   # a comment
      - kms: { apiVersion: v2, name: mine, endpoint: "unix:///tmp/kms.sock" }
      - kms: { apiVersion: v2, name: slow, endpoint: "unix:///tmp/slow.sock", timeout: 1m1.5s }
      - identity: {}
  - resources: ['*.apps']
    providers:
      - aescbc: { keys: [{ name: key2, secret: "${KEY_32}" }] }
`
  const config = decodeEncryptionConfiguration(yaml)
  t.same(config.resources[0]!.resources, ['secrets', 'configmaps', 'pandas.awesome.bears.example'])
  t.match(config.resources[0]!.providers, [
    { aesgcm: [{ name: 'key1', secret: KEY_16 }] },
    { kms: { apiVersion: 'v2', name: 'mine', timeoutMs: 3000 } },
    { kms: { timeoutMs: 61_500 } },
    { identity: true },
  ])
  t.same(validateEncryptionConfiguration(config), [])
  const old = decodeEncryptionConfiguration(
    yaml.replace('apiserver.config.k8s.io/', '').replace('Configuration', 'Config'),
  )
  t.same(old, config, 'kind EncryptionConfig of v1 is the same')
})

t.test('what is wrong in form is refused, all of it at once, and no secret is quoted', async (t) => {
  const file = (resources: unknown, more = {}) =>
    JSON.stringify({ kind: 'EncryptionConfiguration', apiVersion: 'apiserver.config.k8s.io/v1', resources, ...more })
  const refused = (text: string, ...messages: RegExp[]) => {
    for (const message of messages)
      t.throws(() => decodeEncryptionConfiguration(text), { code: 'encryption-config', message })
  }
  refused('', /empty/)
  refused('a: [', /not YAML: line 1/)
  refused('just text', /the file must be a mapping|apiVersion and kind/)
  refused(`{"kind": "Secret", "apiVersion": "v1"}`, /must be apiserver.config.k8s.io\/v1 and EncryptionConfiguration/)
  refused(`kind: EncryptionConfiguration\nkind: EncryptionConfiguration`, /line 2, column 1: duplicated/)
  refused(file([], { extra: 1 }), /unknown field "extra"/)
  const keys = [{ name: 1, secret: KEY_16, sercet: 'x' }]
  const wrong = file([
    { resources: 'secrets', providers: [{ aesgcm: { keys }, vault: {} }, { kms: { timeout: '3' } }] },
  ])
  refused(
    wrong,
    /resources\[0\]\.resources must be a list of strings/,
    /providers\[0\]\.aesgcm\.keys\[0\]\.name must be a string/,
    /unknown field "resources\[0\]\.providers\[0\]\.aesgcm\.keys\[0\]\.sercet"/,
    /unknown field "resources\[0\]\.providers\[0\]\.vault"/,
    /kms\.timeout must be a duration/,
  )
  try {
    decodeEncryptionConfiguration(`secret: ${KEY_16}\nsecret: ${KEY_16}`)
  } catch (error) {
    t.notMatch(String(error), KEY_16)
    t.notOk((error as Error).cause)
  }
})

t.test('something must be configured', async (t) => {
  t.match(problems(), [/^resources: Required value/])
  t.match(problems({}), [
    /^resources\[0\]\.resources: Required value: at least one resources\[0\]\.resources is required/,
    /^resources\[0\]\.providers: Required value/,
  ])
})

t.test('names of resources', async (t) => {
  t.same(forResources('secrets', 'deployments.apps', '*.batch'), [])
  t.same(forResources('*.'), [])
  t.same(forResources('*.*'), [])
  const wrong: [string, RegExp][] = [
    ['Secrets', /no capital letters/],
    ['*', /use '\*\.' for all resources of the core group/],
    ['serviceipallocations', /does not serve/],
    ['servicenodeportallocations', /does not serve/],
    ['apiserveripinfo', /does not serve/],
    ['events.events.k8s.io', /use 'events'/],
    ['*.events.k8s.io', /use 'events'/],
    ['ingresses.extensions', /'extensions' is gone/],
    ['secrets.*', /across all groups/],
  ]
  for (const [name, message] of wrong) {
    const found = forResources(name)
    t.equal(found.length, 1, name)
    t.match(found[0], message)
    t.match(found[0], /^resources\[0\]\.resources\[0\]: Invalid value: /)
  }
})

t.test('a list must not name a resource twice or under a wildcard of its own', async (t) => {
  t.match(forResources('secrets', 'secrets'), [/only once/])
  for (const list of [
    ['secrets', '*.'],
    ['*.', 'secrets'],
    ['*.apps', 'deployments.apps'],
    ['pods', '*.*'],
    ['*.*', '*.apps'],
  ]) {
    t.match(forResources(...list), [/overlap/], list.join())
  }
  t.match(forResources('*.*', '*.*'), [/only once/])
  t.match(forResources('secrets', 'secrets', '*.'), [/only once/, /overlap/])
  t.same(forResources('secrets', '*.apps', 'secrets.example.com'), [])
})

t.test('an element holds one provider', async (t) => {
  t.match(forProviders({}), [/providers\[0\]: Invalid value: .*one of kms, aesgcm, aescbc, secretbox, identity/])
  t.match(forProviders({ identity: null }), [/one of/])
  t.match(forProviders({ ...aesgcm, identity: {} }), [/split it/])
  t.same(forProviders({ identity: {} }, aesgcm, aesgcm), [])
})

t.test('keys need a name and a secret of the right length, and no message shows one', async (t) => {
  const withKeys = (kind: string, ...keys: object[]) => forProviders({ [kind]: { keys } })
  const sized = (bytes: number) => ({ name: 'k', secret: Buffer.alloc(bytes, 7).toString('base64') })
  for (const kind of ['aesgcm', 'aescbc', 'secretbox']) {
    t.match(withKeys(kind), [/keys: Required value/])
    t.match(withKeys(kind, {}), [/keys\[0\]\.name: Required/, /keys\[0\]\.secret: Required/])
    for (const secret of ['%%%%', 'YQ', 'YQ=', 'Y Q=', 'YQ==YQ==']) {
      t.match(withKeys(kind, { name: 'k', secret }), [/secret: Invalid value: "REDACTED": secrets must be base64/])
    }
    t.match(withKeys(kind, sized(15)), [/"REDACTED": a secret of 15 bytes/])
    t.same(withKeys(kind, sized(32), sized(32)), [])
    t.equal(withKeys(kind, sized(16)).length, kind === 'secretbox' ? 1 : 0)
    t.equal(withKeys(kind, sized(24)).length, kind === 'secretbox' ? 1 : 0)
  }
})

t.test('KMS providers', async (t) => {
  t.same(forProviders(kms()), [])
  t.match(forProviders(kms({ name: '' })), [/kms\.name: Required/])
  t.match(forProviders(kms({ name: 'a:b' })), [/must not contain ':'/])
  t.match(forProviders(kms(), kms()), [/providers\[1\]\.kms\.name: .*unique/])
  const twoBlocks = [
    { resources: ['secrets'], providers: [kms()] },
    { resources: ['pods'], providers: [kms()] },
  ]
  t.match(problems(...twoBlocks), [/resources\[1\]\.providers\[0\]\.kms\.name: .*unique/])
  t.match(forProviders(kms({ timeout: '0s' })), [/timeout: .*positive/])
  t.match(forProviders(kms({ timeout: '-1s' })), [/timeout: .*positive/])
  t.match(forProviders(kms({ endpoint: '' })), [/endpoint: .*needs an endpoint/])
  t.match(forProviders(kms({ endpoint: 'tcp://1.2.3.4:1' })), [/must be unix, not tcp/])
  t.match(forProviders(kms({ endpoint: '/run/kms.sock' })), [/not a URL/])
  t.match(forProviders(kms({ cachesize: 10 })), [/v2 has no cachesize/])
  t.match(forProviders(kms({ apiVersion: 'v1', cachesize: 10 })), [/KMS v1 \(the default\) is not supported/])
  t.match(forProviders(kms({ apiVersion: undefined })), [/KMS v1 \(the default\) is not supported/])
  t.match(forProviders(kms({ apiVersion: 'v3' })), [/not a version/])
})
