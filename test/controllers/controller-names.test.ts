import t from 'tap'
import { controllerErrors, enabledControllers } from '#keelson/controllers/controller-names.js'

t.test('the words of --controllers', async (t) => {
  const all = enabledControllers(['*'])
  t.ok(all.includes('namespace-controller'))
  t.same(enabledControllers(['-*']), [])
  t.same(enabledControllers([]), [], 'nothing is on without a word')
  t.same(enabledControllers(['namespace']), ['namespace-controller'], 'names from before are taken')
  t.same(
    enabledControllers(['*', '-namespace-controller']),
    all.filter((name) => name !== 'namespace-controller'),
  )
  t.same(enabledControllers(['-*', 'serviceaccount']), ['serviceaccount-controller'])
  t.same(controllerErrors(['*', '-*', 'namespace', '-namespace']), [])
  t.match(controllerErrors(['nobody']), ['--controllers: "nobody" is not in the list of known controllers'])
})
