import t from 'tap'
import { podSpecAt } from '#keelson/registry/generic/pod-spec-at.js'

t.test('the spec of a pod, wherever it is', async (t) => {
  const spec = { containers: [] }
  t.equal(podSpecAt({ spec }, ['spec']), spec)
  t.equal(podSpecAt({ spec: { template: { spec } } }, ['spec', 'template', 'spec']), spec)
})

t.test('an empty one where there is none', async (t) => {
  t.same(podSpecAt(undefined, ['spec']), {})
  t.same(podSpecAt({}, ['spec', 'template']), {})
  t.same(podSpecAt({ spec: 'text' }, ['spec', 'template']), {})
  t.same(podSpecAt({ spec: [] }, ['spec']), {})
})
