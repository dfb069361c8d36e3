import t from 'tap'
import type { KubeObject } from '#keelson/api/object.js'
import {
  ensureNamespace,
  fillSystemFields,
  formatTime,
  generateName,
  wipeSystemFields,
} from '#keelson/registry/generic/system-fields.js'

t.test('times have seconds', async (t) => {
  t.equal(formatTime(Date.UTC(2026, 0, 2, 3, 4, 5, 678)), '2026-01-02T03:04:05Z')
})

t.test('a new object gets an identity of its own', async (t) => {
  const [a, b]: [KubeObject, KubeObject] = [{}, { metadata: { uid: 'copied' } }]
  fillSystemFields(a, 0)
  fillSystemFields(b, 0)
  t.match(a.metadata, { creationTimestamp: '1970-01-01T00:00:00Z', uid: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/ })
  t.not(b.metadata?.uid, 'copied')
  t.not(a.metadata?.uid, b.metadata?.uid)
})

t.test('what was copied from another object is wiped, and only that', async (t) => {
  const object: KubeObject = {
    metadata: {
      name: 'a',
      labels: {},
      uid: 'u',
      creationTimestamp: 'c',
      deletionTimestamp: 'd',
      deletionGracePeriodSeconds: 1,
      selfLink: 's',
    },
  }
  wipeSystemFields(object)
  t.same(object.metadata, { name: 'a', labels: {} })
})

t.test('a generated name is the base with five letters, 63 at most', async (t) => {
  t.equal(
    generateName('a-', () => 0),
    'a-bbbbb',
  )
  t.equal(
    generateName('a-', () => 0.999999),
    'a-99999',
  )
  t.equal(
    generateName('x'.repeat(100), () => 0),
    `${'x'.repeat(58)}bbbbb`,
  )
  t.match(generateName('a-'), /^a-[bcdfghjklmnpqrstvwxz2456789]{5}$/)
})

t.test('the namespace is that of the path', async (t) => {
  const namespaced = (namespace: string | undefined, request: string, scoped: boolean) => {
    const object: KubeObject = { metadata: namespace === undefined ? {} : { namespace } }
    ensureNamespace(object, request, scoped)
    return object.metadata?.namespace
  }
  t.equal(namespaced(undefined, 'default', true), 'default')
  t.equal(namespaced('default', 'default', true), 'default')
  t.throws(() => namespaced('other', 'default', true), { code: 400 })
  t.equal(namespaced('other', '', false), undefined, 'of what is in none it is dropped')
  t.equal(namespaced(undefined, 'default', false), undefined)
})
