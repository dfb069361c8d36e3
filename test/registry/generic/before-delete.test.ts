/** What a DELETE does to the metadata of an object, for periods of grace that JavaScript's numbers cannot hold too. */

import t from 'tap'
import { type KubeObject, nextGeneration } from '#keelson/api/object.js'
import { podRules } from '#keelson/registry/core/pods/strategy.js'
import { beforeDelete, markAsDeleting } from '#keelson/registry/generic/before-delete.js'
import { RulesStrategy } from '#keelson/registry/generic/rules-strategy.js'
import type { DeleteOptions } from '#keelson/registry/generic/strategy.js'
import { requestContext } from '../../support/request-context.js'

const NOW = Date.parse('2026-01-02T03:04:05Z')
const LARGEST = 9223372036854775807n
const strategy = new RulesStrategy(
  { kind: { group: '', kind: 'Pod' }, namespaceScoped: true, hasStatus: true },
  podRules,
)
const context = requestContext({ resource: 'pods', verb: 'delete', now: () => NOW })

function deleted(object: KubeObject, options: DeleteOptions = {}) {
  const kind = beforeDelete(strategy, object, options, context)
  return { kind, metadata: object.metadata, options }
}

const running = (terminationGracePeriodSeconds: number | bigint): KubeObject => ({
  metadata: { name: 'p', generation: 1 },
  spec: { nodeName: 'n', terminationGracePeriodSeconds },
})

t.test('a pod is told to end, at the time that its grace says', async (t) => {
  const { kind, metadata } = deleted(running(30))
  t.equal(kind, 'graceful')
  t.match(metadata, { deletionTimestamp: '2026-01-02T03:04:35Z', deletionGracePeriodSeconds: 30, generation: 2 })
})

t.test('the longest grace wraps around as durations in Go do, and the pod is told to end', async (t) => {
  const { kind, metadata } = deleted(running(LARGEST))
  t.equal(kind, 'graceful')
  t.match(metadata, { deletionTimestamp: '2026-01-02T03:04:04Z', deletionGracePeriodSeconds: LARGEST })
})

t.test('a grace of more nanoseconds than 64 bits hold still gives a time', async (t) => {
  const { metadata } = deleted(running(0), { gracePeriodSeconds: Number.MAX_SAFE_INTEGER })
  t.equal(metadata?.deletionGracePeriodSeconds, Number.MAX_SAFE_INTEGER, 'what was asked for is what is kept')
  t.match(metadata?.deletionTimestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
})

t.test('a pod that ends with the longest grace can be told to end sooner', async (t) => {
  const pod = running(LARGEST)
  deleted(pod)
  const { kind, metadata } = deleted(pod, { gracePeriodSeconds: 5 })
  t.equal(kind, 'graceful')
  t.equal(metadata?.deletionGracePeriodSeconds, 5)
})

t.test('generations count beyond what numbers hold, and wrap around as in Go', async (t) => {
  t.equal(nextGeneration({}), 1)
  t.equal(nextGeneration({ generation: Number.MAX_SAFE_INTEGER }), BigInt(Number.MAX_SAFE_INTEGER) + 1n)
  t.equal(nextGeneration({ generation: LARGEST }), -LARGEST - 1n)
  const object: KubeObject = { metadata: { generation: LARGEST } }
  markAsDeleting(object, NOW)
  t.equal(object.metadata?.generation, -LARGEST - 1n)
})
