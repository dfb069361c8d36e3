import t from 'tap'
import { BuiltinSchemas } from '#keelson/api/builtin-schema.js'
import { Catalogue } from '#keelson/api/catalogue.js'
import type { StructSchema } from '#keelson/api/schema.js'

t.test('what is served by default is what kube-apiserver serves by default', (t) => {
  const served = Catalogue.builtin().servedByDefault()
  t.equal(served.groupVersions().length, 22)
  t.equal(served.resources.length, 68)
  t.equal(
    served.resources.reduce((sum, r) => sum + r.subresources.length, 0),
    45,
  )
  t.same(served.groups().slice(0, 3), ['', 'apiregistration.k8s.io', 'apps'])
  t.same(served.versions('autoscaling'), ['v2', 'v1'])
  t.ok(Catalogue.builtin().resources.some((r) => r.version.includes('alpha') && !r.servedByDefault))
  t.end()
})

t.test('a resource is found by its path and by its kind', (t) => {
  const all = Catalogue.builtin()
  const pods = all.find('', 'v1', 'pods')
  t.match(pods, { kind: 'Pod', namespaced: true, shortNames: ['po'], categories: ['all'], singular: 'pod' })
  t.match(
    pods?.subresources.find((s) => s.name === 'eviction'),
    { group: 'policy', version: 'v1', kind: 'Eviction' },
  )
  t.equal(all.findKind('apps', 'v1', 'Deployment')?.resource, 'deployments')
  t.equal(all.find('apps', 'v2', 'deployments'), undefined)
  t.end()
})

t.test('every kind of the catalogue has a schema, and every reference in the tables leads somewhere', (t) => {
  const schemas = new BuiltinSchemas()
  for (const resource of Catalogue.builtin().resources) {
    const { group, version, kind } = resource
    t.ok(schemas.kind(group, version, kind)?.fields.has('metadata') ?? false, `${group}/${version} ${kind}`)
    for (const sub of resource.subresources) t.ok(schemas.kind(sub.group, sub.version, sub.kind), sub.kind)
  }
  for (const packageName of schemas.packageNames())
    for (const name of schemas.definitionNames(packageName)) {
      const definition = schemas.definition(name)
      if (definition?.kind === 'struct') t.ok(definition.fields.size >= 0)
    }
  t.end()
})

t.test('a schema says how apply, patches, JSON and protobuf treat a field', (t) => {
  const schemas = new BuiltinSchemas()
  const pod = schemas.kind('', 'v1', 'Pod')!
  t.same([...pod.fields.keys()], ['kind', 'apiVersion', 'metadata', 'spec', 'status'])
  const spec = pod.fields.get('spec')!.type as StructSchema
  t.equal([...spec.fields.keys()].indexOf('initContainers'), 1, 'fields are in the order of the Go type')
  t.match(spec.fields.get('containers')!.type, {
    kind: 'list',
    listType: 'map',
    mapKeys: ['name'],
    patchStrategy: 'merge',
    patchMergeKey: 'name',
  })
  t.match(spec.fields.get('nodeSelector')!.type, { kind: 'map', atomic: true })
  t.match(spec.fields.get('hostNetwork'), { wire: { path: [11] }, presence: { pointer: false, omitEmpty: true } })
  t.match(spec.fields.get('priority'), { presence: { pointer: true } })
  t.same(
    (schemas.definition('io.k8s.api.core.v1.Probe') as StructSchema).fields.get('exec')!.wire?.path,
    [1, 1],
    'embedded structs lie deeper on the wire',
  )
  const claimRef = (schemas.definition('io.k8s.api.core.v1.PersistentVolumeSpec') as StructSchema).fields.get(
    'claimRef',
  )!
  t.equal((claimRef.type as StructSchema).atomic, false, 'a field may make an atomic type granular')
  t.equal(schemas.definition('io.k8s.apimachinery.pkg.api.resource.Quantity')?.kind, 'quantity')
  t.equal(schemas.definition('nothing.like.This'), undefined)
  t.equal(schemas.kind('apps', 'v1', 'DeleteOptions')?.name, 'io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions')
  t.equal(schemas.kind('apps', 'v1', 'DeploymentSpec'), undefined, 'a type that is no kind')
  t.end()
})
