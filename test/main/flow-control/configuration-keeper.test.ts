import t from 'tap'
import { nullLogger } from '#keelson/lib/logger.js'
import type { ServerRequest } from '#keelson/main/bootstrap/server-requests.js'
import {
  mandatoryFlowSchemas,
  mandatoryPriorityLevels,
  suggestedFlowSchemas,
  suggestedPriorityLevels,
} from '#keelson/main/flow-control/bootstrap-objects.js'
import { AUTO_UPDATE_ANNOTATION, type PriorityLevelConfiguration } from '#keelson/main/flow-control/configuration.js'
import { ConfigurationKeeper, revise, staleConditions } from '#keelson/main/flow-control/configuration-keeper.js'
import { FakeClock } from '../../support/fake-clock.js'

const LEVELS = [...suggestedPriorityLevels(), ...mandatoryPriorityLevels()]
const SCHEMAS = [...suggestedFlowSchemas(), ...mandatoryFlowSchemas()]

function keeper() {
  const clock = new FakeClock()
  const sent: ServerRequest[] = []
  const requests = {
    send: async (request: ServerRequest) => {
      sent.push(request)
      return { status: 200, text: '' }
    },
  }
  const keep = new ConfigurationKeeper({ requests, clock, logger: nullLogger })
  const take = () => sent.splice(0).map(({ method, path }) => `${method} ${path.split('/').slice(4).join('/')}`)
  return { clock, keep, sent, take }
}

t.test('makes what is missing, leaves what is right, removes what no release suggests any more', async (t) => {
  const { keep, take, clock } = keeper()
  t.teardown(() => keep.stop())
  await keep.start()
  const made = take()
  t.equal(made.length, 8 + 11)
  t.ok(made.every((line) => line.startsWith('POST')))
  const old = { ...LEVELS[0]!, metadata: { name: 'old-one', annotations: { [AUTO_UPDATE_ANNOTATION]: 'true' } } }
  const own = { ...LEVELS[0]!, metadata: { name: 'own' } }
  keep.update({ levels: [...LEVELS, old, own], schemas: [] })
  await clock.advance(60_000)
  const second = take()
  t.same(
    second.filter((line) => line.startsWith('DELETE')),
    ['DELETE prioritylevelconfigurations/old-one'],
  )
  t.equal(second.filter((line) => line.startsWith('POST')).length, 11, 'schemas only')
})

t.test('a first round that fails does not end the start, and is repeated soon', async (t) => {
  const clock = new FakeClock()
  let sent = 0
  const requests = {
    send: async () => {
      if (++sent === 1) throw new Error('the thread that served the request stopped answering')
      return { status: 201, text: '' }
    },
  }
  const keep = new ConfigurationKeeper({ requests, clock, logger: nullLogger })
  t.teardown(() => keep.stop())
  await keep.start()
  const before = sent
  await clock.advance(1_000)
  t.equal(sent - before, 8 + 11, 'every object is written')
  await clock.advance(1_000)
  t.equal(sent - before, 8 + 11, 'and then no more for a minute')
})

t.test('whoever takes a suggested object over keeps it; the mandatory ones are nobody’s', async (t) => {
  const wanted = suggestedPriorityLevels()[0]!
  const changed = (annotation: string | undefined, generation: number): PriorityLevelConfiguration => ({
    metadata: {
      name: wanted.metadata.name,
      generation,
      annotations: annotation === undefined ? {} : { [AUTO_UPDATE_ANNOTATION]: annotation },
    },
    spec: { type: 'Limited', limited: { nominalConcurrencyShares: 77, limitResponse: { type: 'Reject' } } },
  })
  t.same(revise(changed('true', 5), wanted, false)?.spec, wanted.spec, 'ours: set right')
  t.equal(revise(changed('false', 5), wanted, false), undefined, 'theirs: left alone')
  t.match(revise(changed(undefined, 2), wanted, false), {
    metadata: { annotations: { [AUTO_UPDATE_ANNOTATION]: 'false' } },
    spec: { limited: { nominalConcurrencyShares: 77 } },
  })
  t.match(revise(changed(undefined, 1), wanted, false), {
    metadata: { annotations: { [AUTO_UPDATE_ANNOTATION]: 'true' } },
    spec: wanted.spec,
  })
  t.match(revise(changed('false', 9), wanted, true), {
    metadata: { annotations: { [AUTO_UPDATE_ANNOTATION]: 'true' } },
    spec: wanted.spec,
  })
  const exempt = mandatoryPriorityLevels().find(({ metadata }) => metadata.name === 'exempt')!
  const shares: PriorityLevelConfiguration = {
    ...exempt,
    spec: { type: 'Exempt', exempt: { nominalConcurrencyShares: 50, lendablePercent: 10 } },
  }
  t.equal(revise(shares, exempt, true), undefined, 'but for the shares of who is exempt')
})

t.test('conditions say whether the level exists', async (t) => {
  const { keep, sent } = keeper()
  const schema = SCHEMAS[0]!
  const right = {
    ...schema,
    status: {
      conditions: [
        {
          type: 'Dangling',
          status: 'False',
          message: `This FlowSchema references the PriorityLevelConfiguration object named "${schema.spec.priorityLevelConfiguration.name}" and it exists`,
        },
      ],
    },
  }
  t.same(staleConditions({ levels: LEVELS, schemas: [right] }), [])
  t.match(staleConditions({ levels: [], schemas: [right] }), [{ dangling: true }])
  for (let i = 0; i < 20; i++) keep.update({ levels: [], schemas: [right] })
  await keep.stop()
  t.equal(sent.length, 5, 'two servers that disagree do not write without end')
  t.match(sent[0], {
    method: 'PATCH',
    path: `/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas/${schema.metadata.name}/status`,
    object: { status: { conditions: [{ type: 'Dangling', status: 'True', reason: 'NotFound' }] } },
  })
})
