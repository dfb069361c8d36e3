// The import directions of the rooms; see CONTRIBUTING.md for the map. Every room has a rule that says what it may know.
const room = (name) => `^src/${name}/`
const CONTRACT = room('storage/contract')
/** What everybody above it may use. */
const GROUND = [room('lib'), room('api'), room('protocol'), room('metrics')]

/** Modules of `from` import nothing of ours but what is allowed. */
const only = (name, from, allowed, comment) => ({
  name,
  comment,
  severity: 'error',
  from: { path: from },
  to: { path: '^src/', pathNot: [].concat(from, allowed) },
})
/** Modules of `from` import none of these. */
const never = (name, from, forbidden, comment) => ({
  name,
  comment,
  severity: 'error',
  from: { path: from },
  to: { path: forbidden },
})
/** A package that one room alone imports. */
const oneImporter = (name, importer, packagePath, comment) => ({
  name,
  comment,
  severity: 'error',
  from: { path: '^src/', pathNot: importer },
  to: { path: packagePath },
})
/** Rooms of src/main, by name. */
const main = (...names) => names.map((name) => room(`main/${name}`))

const LAYERS = [
  { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
  {
    name: 'nothing-imports-main',
    comment: 'main stands on everything; nothing stands on main',
    severity: 'error',
    from: { path: '^src/', pathNot: room('main') },
    to: { path: room('main') },
  },
  never('nothing-imports-tests', '^src/', '^(test|bench)/', 'what ships knows no tests'),
  only('lib-is-the-floor', room('lib'), [], 'lib imports nothing of ours'),
  only('api-stands-on-lib', room('api'), [room('lib')], 'api is words without I/O'),
  only(
    'protocol-is-boundaries',
    room('protocol'),
    [room('lib'), room('api'), CONTRACT, room('storage/factory')],
    'a boundary file knows words and contracts',
  ),
  only('metrics-stand-on-words', room('metrics'), GROUND, 'counting knows nobody who counts'),
  only(
    'tracing-stands-on-words',
    room('tracing'),
    [...GROUND, room('storage/grpc')],
    'spans know nobody who makes them; a collector is spoken to in the frames of gRPC',
  ),
]

const STORAGE = [
  only(
    'contract-stands-on-words',
    CONTRACT,
    [room('lib'), room('api'), room('protocol')],
    'the storage contract is what everybody else may import: it knows no implementation',
  ),
  only('grpc-is-framing', room('storage/grpc'), [...GROUND, CONTRACT], 'etcd and KMS plugins speak through it'),
  only(
    'etcd-knows-the-contract',
    room('storage/etcd'),
    [...GROUND, CONTRACT, room('storage/grpc'), '^src/storage/factory/storage-config\\.ts$'],
    'an engine knows no other engine; its configuration is plain data',
  ),
  only(
    'embedded-knows-the-contract',
    room('storage/embedded'),
    [...GROUND, CONTRACT],
    'an engine knows no other engine',
  ),
  only('store-knows-the-contract', room('storage/store'), [...GROUND, CONTRACT], 'one Store over any KV'),
  only(
    'transformers-know-the-contract',
    room('storage/transformers'),
    [...GROUND, CONTRACT, room('storage/grpc')],
    'bytes in, bytes out',
  ),
  only('backup-knows-the-contract', room('storage/backup'), [...GROUND, CONTRACT], 'a backup is of any KV'),
  only('monitors-know-the-contract', room('storage/monitors'), [...GROUND, CONTRACT], 'monitors watch any KV'),
  only(
    'factory-knows-no-engine',
    room('storage/factory'),
    [...GROUND, CONTRACT, room('storage/store'), room('storage/transformers')],
    'engines are handed to the factory, so that a thread without one does not load it',
  ),
]

const CACHER = [
  only('cacher-sees-the-contract', room('cacher'), [...GROUND, CONTRACT], 'the cacher never sees etcd or LMDB'),
  never(
    'memory-knows-no-reader',
    room('cacher/memory'),
    [room('cacher/read'), room('cacher/feed')],
    'shared memory knows neither who fills it nor who reads it',
  ),
  {
    name: 'readers-do-not-feed',
    comment: 'readers run in every thread: the writing half must not be loaded there',
    severity: 'error',
    from: { path: room('cacher/read') },
    to: { path: room('cacher/feed'), dependencyTypesNot: ['type-only'] },
  },
]

const OBJECTS = [
  only(
    'apiextensions-side',
    room('apiextensions'),
    [room('lib'), room('api')],
    'definitions become schemas, columns and documents: words without I/O, which registry, workers and front ends use',
  ),
  only(
    'aggregator-side',
    room('aggregator'),
    [...GROUND, room('cacher'), CONTRACT],
    'who serves what, from shared memory; how requests reach another server is main/aggregation',
  ),
  only('auth-side', room('auth'), [...GROUND, room('cacher'), CONTRACT], 'auth reads shared memory'),
  never('who-before-whether', room('auth/authn'), room('auth/authz'), 'authentication knows no authorizer'),
  never('whether-after-who', room('auth/authz'), room('auth/authn'), 'an authorizer takes users as they are'),
  only(
    'admission-side',
    room('admission'),
    [...GROUND, room('cacher'), room('auth'), room('registry/generic'), CONTRACT],
    'admission knows objects, not storage',
  ),
  {
    name: 'the-chain-knows-no-plugin',
    comment: 'plugins are handed to the chain',
    severity: 'error',
    from: { path: '^src/admission/[^/]+\\.ts$', pathNot: '^src/admission/plugin-names\\.ts$' },
    to: { path: room('admission/plugins') },
  },
  only(
    'registry-side',
    room('registry'),
    [
      ...GROUND,
      room('apiextensions'),
      room('cacher'),
      room('auth'),
      room('admission'),
      CONTRACT,
      room('storage/factory'),
    ],
    'the registry sees the storage contract',
  ),
  {
    name: 'generic-knows-no-resource',
    comment: 'what serves every resource knows none of them',
    severity: 'error',
    from: { path: room('registry/generic') },
    to: { path: room('registry'), pathNot: ['^src/registry/generic/', '^src/registry/[^/]+\\.ts$'] },
  },
]

const WORKERS = [
  only(
    'endpoints-know-no-engine',
    room('workers/endpoints'),
    [
      ...GROUND,
      room('apiextensions'),
      room('auth'),
      room('admission'),
      room('registry'),
      CONTRACT,
      room('storage/factory'),
      room('workers/scheme'),
    ],
    'an endpoint carries out a verb on a registry: where objects are kept is not its business',
  ),
  only(
    'the-scheme-knows-no-endpoint',
    room('workers/scheme'),
    [
      ...GROUND,
      room('apiextensions'),
      room('cacher/read'),
      room('registry'),
      CONTRACT,
      room('storage/factory'),
      room('storage/transformers'),
    ],
    'what is served, and how it is stored; not who serves it',
  ),
  only(
    'the-owner-knows-bytes',
    room('workers/owner'),
    [...GROUND, room('cacher'), room('storage')],
    'the owner holds storage and memory; objects come to it through a module it is given',
  ),
  only(
    'data-work-knows-bytes',
    room('workers/data'),
    [...GROUND, room('storage')],
    'what keelson data does is done to keys and values',
  ),
  never(
    'pool-and-owner-are-strangers',
    room('workers/pool-worker'),
    room('workers/owner'),
    'a pool thread reaches the owner by a port',
  ),
  {
    name: 'nobody-imports-a-thread',
    comment: 'thread entries are started, never imported',
    severity: 'error',
    from: {},
    to: {
      path: ['^src/(main|workers)/[^/]+-thread\\.ts$', '^src/main/index\\.ts$', '^src/workers/owner-objects\\.ts$'],
    },
  },
]

const CONTROLLERS = [
  only(
    'controllers-are-clients',
    room('controllers'),
    [
      ...GROUND,
      room('cacher'),
      room('auth'),
      CONTRACT,
      '^src/admission/plugins/(quota/(quota|scopes|usage)|pod|quantities)\\.ts$',
      '^src/admission/expressions/type-checker\\.ts$',
      '^src/apiextensions/(rules/rule-types|schema/json-schema)\\.ts$',
    ],
    'a controller reads shared memory and writes by requests: where objects are kept and how they are checked is not its business',
  ),
]

const MAIN = [
  {
    name: 'main-reaches-no-strategy',
    comment: 'front ends know resources by their facts; rules are loaded by the pool and the owner alone',
    severity: 'error',
    from: { path: room('main') },
    to: { path: '^src/registry/[^/]+/[^/]+/strategy\\.ts$', reachable: true },
  },
  {
    name: 'main-reaches-no-storage',
    comment: 'the front end reads shared memory and asks the pool',
    severity: 'error',
    from: { path: room('main') },
    to: { path: ['^src/storage/(etcd|embedded|store)/', room('registry')], dependencyTypesNot: ['type-only'] },
  },
  {
    name: 'only-composition-imports-composition',
    comment: 'parts are handed to those who use them; nobody fetches them',
    severity: 'error',
    from: { path: '^src/', pathNot: ['^src/main/composition/', '^src/main/[^/]+\\.ts$'] },
    to: { path: ['^src/main/composition/', '^src/main/(compose|library)\\.ts$'] },
  },
  only(
    'http-knows-no-request',
    room('main/http'),
    [...GROUND, room('auth')],
    'bytes, heads and exchanges: what is asked for is decided above',
  ),
  {
    name: 'engines-are-hidden',
    comment: 'what stands above an engine cannot tell which one it is; only the choice of one names them',
    severity: 'error',
    from: {
      path: '^src/',
      pathNot: ['^src/main/http/(uws|node)/', '^src/main/http/engine-choice\\.ts$', '^src/main/compose\\.ts$'],
    },
    to: { path: '^src/main/http/(uws|node)/' },
  },
  never('uws-knows-no-node-engine', room('main/http/uws'), [room('main/http/node')], 'an engine is whole by itself'),
  never('node-engine-knows-no-uws', room('main/http/node'), [room('main/http/uws')], 'an engine is whole by itself'),
  never(
    'verbs-know-no-filter',
    room('main/verbs'),
    main('request', 'paths', 'flow-control', 'audit', 'kubelet', 'bootstrap', 'certificates', 'flags'),
    'a verb is carried out after every filter, and knows none of them',
  ),
  never(
    'paths-know-no-resource',
    room('main/paths'),
    main('request', 'verbs', 'flow-control', 'audit', 'kubelet', 'bootstrap'),
    'what is no resource is answered without them',
  ),
  never(
    'filters-know-contracts',
    room('main/request'),
    main('flow-control', 'audit', 'kubelet', 'bootstrap', 'certificates', 'flags', 'secrets'),
    'gate, observer and connector are interfaces here; who implements them is composition’s business',
  ),
  never(
    'flow-control-stands-alone',
    room('main/flow-control'),
    main('paths', 'audit', 'kubelet', 'certificates', 'flags', 'secrets'),
    'flow control sees requests and their sizes',
  ),
  never(
    'audit-stands-alone',
    room('main/audit'),
    main('paths', 'verbs', 'flow-control', 'kubelet', 'bootstrap', 'certificates', 'secrets', 'threads'),
    'audit observes; the thread that writes it loads no front end',
  ),
  never(
    'kubelet-stands-alone',
    room('main/kubelet'),
    main('paths', 'flow-control', 'audit', 'bootstrap', 'certificates', 'flags', 'secrets'),
    'a connector passes bytes on',
  ),
  never(
    'certificates-know-no-request',
    room('main/certificates'),
    main('http', 'request', 'verbs', 'paths', 'flow-control', 'audit', 'kubelet', 'bootstrap', 'threads'),
    'certificates are files and bytes',
  ),
  never(
    'flags-start-nothing',
    room('main/flags'),
    main('http', 'request', 'verbs', 'paths', 'flow-control', 'kubelet', 'bootstrap', 'secrets'),
    'configuration is plain data',
  ),
  never(
    'threads-know-no-request',
    room('main/threads'),
    main('request', 'verbs', 'kubelet', 'audit', 'bootstrap', 'certificates', 'secrets'),
    'a thread and its line know nothing of what is carried over it',
  ),
  never(
    'bootstrap-is-a-client',
    room('main/bootstrap'),
    main('http', 'verbs', 'paths', 'audit', 'kubelet', 'secrets'),
    'what is made at the start is made by requests',
  ),
  never(
    'secrets-is-a-client',
    room('main/secrets'),
    main('http', 'request', 'verbs', 'paths', 'flow-control', 'audit', 'kubelet', 'bootstrap', 'threads'),
    'the command speaks to a server from outside',
  ),
]

MAIN.push(
  only(
    'data-is-a-command',
    room('main/data'),
    [...GROUND, '^src/main/command-output\\.ts$', room('main/flags')],
    'the command starts a thread, which does the work',
  ),
)

module.exports = {
  forbidden: [
    ...LAYERS,
    ...STORAGE,
    ...CACHER,
    ...OBJECTS,
    ...WORKERS,
    ...CONTROLLERS,
    ...MAIN,
    oneImporter('one-uws-importer', room('main/http/uws'), 'uws-newest|uws-older|@uwsjs', 'an engine hides it'),
    oneImporter('one-prom-importer', room('metrics'), 'node_modules/prom-client', 'families and recorders hide it'),
    oneImporter('one-lmdb-importer', room('storage/embedded'), 'node_modules/lmdb', 'a KV hides it'),
    oneImporter('one-etcd3-importer', room('storage/etcd'), 'node_modules/etcd3', 'a KV hides it'),
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
