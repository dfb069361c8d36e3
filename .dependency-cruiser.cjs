// The import directions of the rooms; see CONTRIBUTING.md for the map.
const room = (name) => `^src/${name}/`
const CONTRACT = '^src/storage/contract/'
const FACTORY = '^src/storage/factory/'
const only = (name, from, allowed, comment) => ({
  name,
  comment,
  severity: 'error',
  from: { path: from },
  to: { path: '^src/', pathNot: allowed },
})

module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'nothing-imports-main',
      severity: 'error',
      from: { path: '^src/', pathNot: room('main') },
      to: { path: room('main') },
    },
    { name: 'nothing-imports-tests', severity: 'error', from: { path: '^src/' }, to: { path: '^(test|bench)/' } },
    only('lib-is-the-floor', room('lib'), [room('lib')], 'lib imports nothing of ours'),
    only('api-stands-on-lib', room('api'), [room('lib'), room('api')], 'api is words without I/O'),
    only(
      'protocol-is-types',
      room('protocol'),
      [room('lib'), room('api'), room('protocol'), CONTRACT, FACTORY],
      'a boundary file knows words and contracts',
    ),
    only(
      'contract-stands-on-api',
      CONTRACT,
      [room('lib'), room('api'), room('protocol'), CONTRACT],
      'the storage contract stands on words and boundaries',
    ),
    only(
      'storage-stays-below',
      room('storage'),
      [room('lib'), room('api'), room('protocol'), room('metrics'), room('storage')],
      'no cacher, registry or main below storage',
    ),
    only(
      'cacher-sees-the-contract',
      room('cacher'),
      [room('lib'), room('api'), room('protocol'), room('metrics'), room('cacher'), CONTRACT],
      'the cacher never sees etcd or LMDB',
    ),
    only(
      'auth-side',
      room('auth'),
      [room('lib'), room('api'), room('protocol'), room('metrics'), room('cacher'), room('auth'), CONTRACT],
      'auth reads shared memory',
    ),
    only(
      'admission-side',
      room('admission'),
      [
        room('lib'),
        room('api'),
        room('protocol'),
        room('metrics'),
        room('cacher'),
        room('auth'),
        room('admission'),
        room('registry/generic'),
        CONTRACT,
      ],
      'admission knows objects, not storage',
    ),
    only(
      'registry-side',
      room('registry'),
      [
        room('lib'),
        room('api'),
        room('protocol'),
        room('metrics'),
        room('cacher'),
        room('auth'),
        room('admission'),
        room('registry'),
        CONTRACT,
        FACTORY,
      ],
      'the registry sees the storage contract',
    ),
    {
      name: 'main-reaches-no-storage',
      comment: 'the front end reads shared memory and asks the pool',
      severity: 'error',
      from: { path: room('main') },
      to: { path: ['^src/storage/(etcd|embedded)/', room('registry')], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'one-uws-importer',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/main/http/http-server\\.ts$' },
      to: { path: 'uWebSockets|uws-pack' },
    },
    {
      name: 'one-prom-importer',
      severity: 'error',
      from: { path: '^src/', pathNot: room('metrics') },
      to: { path: 'node_modules/prom-client' },
    },
    {
      name: 'one-lmdb-importer',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/storage/embedded/' },
      to: { path: 'node_modules/lmdb' },
    },
    {
      name: 'one-etcd3-importer',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/storage/etcd/' },
      to: { path: 'node_modules/etcd3' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.base.json' },
    enhancedResolveOptions: {
      extensions: ['.ts', '.js'],
      exportsFields: ['exports'],
      conditionNames: ['import', 'node'],
    },
  },
}
