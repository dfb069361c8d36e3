import t from 'tap'
import { AdmissionChain, type AdmissionPlugin } from '#keelson/admission/chain.js'
import { enabledPlugins, ORDERED_PLUGINS, pluginNameErrors } from '#keelson/admission/plugin-names.js'
import { attributes, podWith } from './fixture.js'

t.test('links run in order, slow ones are waited for, and only those that handle the request', async (t) => {
  const ran: string[] = []
  const link = (name: string, more: Partial<AdmissionPlugin> = {}): AdmissionPlugin => ({
    name,
    handles: () => true,
    admit: () => void ran.push(`admit ${name}`),
    validate: () => void ran.push(`validate ${name}`),
    ...more,
  })
  const slow = async (): Promise<void> => {
    await new Promise((resolve) => setImmediate(resolve))
    ran.push('admit slow')
  }
  const chain = new AdmissionChain([
    link('a'),
    link('slow', { admit: slow }),
    link('other', { handles: ({ resource }) => resource.resource === 'nodes' }),
    link('b'),
  ])
  await chain.admit(attributes({ object: podWith({}) }))
  await chain.validate(attributes({ object: podWith({}) }))
  t.same(ran, ['admit a', 'admit slow', 'admit b', 'validate a', 'validate slow', 'validate b'])
  ran.length = 0
  await chain.connect(attributes({ operation: 'CONNECT', resource: 'pods/exec' }))
  t.same(ran, ['admit a', 'admit slow', 'admit b', 'validate a', 'validate slow', 'validate b'])
})

t.test('a link asks once for each operation and resource whether it is meant', async (t) => {
  let asked = 0
  const chain = new AdmissionChain([{ name: 'a', handles: () => ++asked > 0, admit: () => undefined }])
  for (let i = 0; i < 3; i++) await chain.admit(attributes({ object: podWith({}) }))
  t.equal(asked, 1)
  await chain.admit(attributes({ operation: 'DELETE' }))
  t.equal(asked, 2)
})

t.test('a link may have all links look once more, and not again', async (t) => {
  const seen: boolean[] = []
  const chain = new AdmissionChain([
    { name: 'a', handles: () => true, admit: ({ reinvocation }) => void seen.push(reinvocation.isReinvoke) },
    {
      name: 'b',
      handles: () => true,
      admit: ({ reinvocation }) => {
        reinvocation.requested = true
      },
    },
  ])
  await chain.admit(attributes({ object: podWith({}) }))
  t.same(seen, [false, true])
})

t.test('the first refusal ends the chain', async (t) => {
  const chain = new AdmissionChain([
    { name: 'a', handles: () => true, admit: () => Promise.reject(new Error('no')) },
    { name: 'b', handles: () => true, admit: () => void t.fail('after a refusal nothing runs') },
  ])
  await t.rejects(chain.admit(attributes({ object: podWith({}) })), { message: 'no' })
})

t.test('names: defaults, more, less, and mistakes', (t) => {
  const on = enabledPlugins([], [])
  t.ok(on.includes('NamespaceLifecycle') && on.includes('LimitRanger') && on.includes('ServiceAccount'))
  t.notOk(on.includes('NodeRestriction') || on.includes('AlwaysDeny'))
  t.notOk(enabledPlugins([], ['Priority']).includes('Priority'))
  const more = enabledPlugins(['NodeRestriction', 'AlwaysPullImages'], [])
  t.same(
    more,
    ORDERED_PLUGINS.filter((name) => more.includes(name)),
    'the order is the server’s, not the flag’s',
  )
  t.ok(more.includes('ServiceAccount'))
  t.same(pluginNameErrors(['Priority'], ['ValidatingAdmissionWebhook', 'ServiceAccount']), [])
  t.match(pluginNameErrors(['Prioriti'], ['Nope', 'x']), [
    /Prioriti.*unknown; there are AlwaysAdmit, .*AlwaysDeny/,
    /Nope/,
    /"x"/,
  ])
  t.match(pluginNameErrors(['ImagePolicyWebhook'], []), [/not available/])
  t.match(pluginNameErrors(['Priority'], ['Priority']), [/both/])
  t.end()
})
