import t from 'tap'
import { Catalogue } from '#keelson/api/catalogue.js'
import { servedByConfig, validateRuntimeConfig } from '#keelson/api/runtime-config.js'

const all = Catalogue.builtin()
const serves = (entries: string[], group: string, version: string, resource: string): boolean =>
  servedByConfig(entries, all).find(group, version, resource) !== undefined

t.test('GA alone is served by default', async (t) => {
  t.same(servedByConfig([], all).resources, all.servedByDefault().resources)
  t.ok(serves([], 'apps', 'v1', 'deployments'))
  t.notOk(serves([], 'resource.k8s.io', 'v1beta1', 'resourceclaims'))
})

t.test('classes of versions, the later ones of all, ga, beta and alpha winning', async (t) => {
  t.ok(serves(['api/beta=true'], 'resource.k8s.io', 'v1beta1', 'resourceclaims'))
  t.notOk(serves(['api/beta=true'], 'resource.k8s.io', 'v1alpha3', 'devicetaintrules'))
  t.ok(serves(['api/alpha'], 'resource.k8s.io', 'v1alpha3', 'devicetaintrules'), 'a key alone is true')
  t.ok(serves(['api/alpha=true', 'api/all=false'], 'resource.k8s.io', 'v1alpha3', 'devicetaintrules'))
  t.notOk(serves(['api/alpha=true', 'api/all=false'], 'apps', 'v1', 'deployments'))
  t.equal(servedByConfig(['api/all=true'], all).resources.length, all.resources.length)
})

t.test('a version, and before it a resource', async (t) => {
  t.notOk(serves(['autoscaling/v1=false'], 'autoscaling', 'v1', 'horizontalpodautoscalers'))
  t.ok(serves(['autoscaling/v1=false'], 'autoscaling', 'v2', 'horizontalpodautoscalers'))
  const one = ['resource.k8s.io/v1beta1/resourceclaims=true']
  t.ok(serves(one, 'resource.k8s.io', 'v1beta1', 'resourceclaims'))
  t.notOk(serves(one, 'resource.k8s.io', 'v1beta1', 'resourceslices'))
  const most = ['resource.k8s.io/v1beta1', 'resource.k8s.io/v1beta1/resourceclaims=false']
  t.notOk(serves(most, 'resource.k8s.io', 'v1beta1', 'resourceclaims'))
  t.ok(serves(most, 'resource.k8s.io', 'v1beta1', 'resourceslices'))
  t.notOk(serves(['api/v1/podtemplates=false'], '', 'v1', 'podtemplates'))
})

t.test('everything that is wrong is said', async (t) => {
  t.same(validateRuntimeConfig(['api/all=true', 'api/v1=true', 'apps/v1/deployments=false', 'batch/v1'], all), [])
  t.same(
    validateRuntimeConfig(
      ['api/beta=maybe', 'nowhere/v1', 'apps/v7=true', 'apps/v1/wheels=true', 'apps', 'a/b/c/d'],
      all,
    ),
    [
      '--runtime-config: the value of api/beta is maybe, not true or false',
      '--runtime-config: there is no API group nowhere',
      '--runtime-config: there is no version apps/v7',
      '--runtime-config: there is no resource apps/v1/wheels',
      '--runtime-config: apps is not of the form group/version or group/version/resource',
      '--runtime-config: a/b/c/d is not of the form group/version or group/version/resource',
    ],
  )
  t.same(validateRuntimeConfig(['api/all=false'], all), [
    '--runtime-config: api/all=false alone leaves nothing to serve',
  ])
})
