/** Thread: any. The operations of a resource as OpenAPI documents list them, derived from its verbs and scope. */
import { lookupTable } from '../../lib/lookup-table.js'
import type { ResourceInfo, SubresourceInfo } from '../catalogue.js'
import type { GroupVersionKind } from '../group-version.js'

export type HttpMethod = 'get' | 'put' | 'post' | 'delete' | 'patch' | 'head' | 'options'

export interface ApiOperation {
  readonly path: string
  readonly method: HttpMethod
  /** x-kubernetes-action */
  readonly action: string
  readonly kind: GroupVersionKind
  readonly query: readonly string[]
  readonly consumes: readonly string[]
  readonly produces: readonly string[]
  /** Kinds of request and response; 'string' is plain text, undefined none. */
  readonly body: string | GroupVersionKind | undefined
  readonly response: string | GroupVersionKind
  readonly codes: readonly number[]
  /** listCoreV1NamespacedPod without its group part: what to build the operation's id from. */
  readonly subject: string
}

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1'
export const QUERY_TYPES: Readonly<Record<string, 'string' | 'boolean' | 'integer'>> = lookupTable({
  allowWatchBookmarks: 'boolean',
  command: 'string',
  container: 'string',
  continue: 'string',
  dryRun: 'string',
  fieldManager: 'string',
  fieldSelector: 'string',
  fieldValidation: 'string',
  follow: 'boolean',
  force: 'boolean',
  gracePeriodSeconds: 'integer',
  ignoreStoreReadErrorWithClusterBreakingPotential: 'boolean',
  insecureSkipTLSVerifyBackend: 'boolean',
  labelSelector: 'string',
  limit: 'integer',
  limitBytes: 'integer',
  orphanDependents: 'boolean',
  path: 'string',
  ports: 'integer',
  pretty: 'string',
  previous: 'boolean',
  propagationPolicy: 'string',
  resourceVersion: 'string',
  resourceVersionMatch: 'string',
  sendInitialEvents: 'boolean',
  shardSelector: 'string',
  sinceSeconds: 'integer',
  stderr: 'boolean',
  stdin: 'boolean',
  stdout: 'boolean',
  stream: 'string',
  tailLines: 'integer',
  timeoutSeconds: 'integer',
  timestamps: 'boolean',
  tty: 'boolean',
  watch: 'boolean',
})
const words = (text: string): string[] => text.split(' ')
const QUERY = {
  get: ['pretty'],
  list: words(
    'allowWatchBookmarks continue fieldSelector labelSelector limit pretty resourceVersion resourceVersionMatch sendInitialEvents shardSelector timeoutSeconds watch',
  ),
  write: words('dryRun fieldManager fieldValidation pretty'),
  patch: words('dryRun fieldManager fieldValidation force pretty'),
  delete: words(
    'dryRun gracePeriodSeconds ignoreStoreReadErrorWithClusterBreakingPotential orphanDependents pretty propagationPolicy',
  ),
  deletecollection: words(
    'continue dryRun fieldSelector gracePeriodSeconds ignoreStoreReadErrorWithClusterBreakingPotential labelSelector limit orphanDependents pretty propagationPolicy resourceVersion resourceVersionMatch sendInitialEvents shardSelector timeoutSeconds',
  ),
}
const CONNECT_QUERY: Readonly<Record<string, string[]>> = lookupTable({
  attach: words('container stderr stdin stdout tty'),
  exec: words('command container stderr stdin stdout tty'),
  portforward: ['ports'],
  proxy: ['path'],
})
const LOG_QUERY = words(
  'container follow insecureSkipTLSVerifyBackend limitBytes pretty previous sinceSeconds stream tailLines timestamps',
)

const ANY = ['*/*']
const OBJECTS = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf', 'application/cbor']
const STREAMS = [
  ...OBJECTS,
  'application/json;stream=watch',
  'application/vnd.kubernetes.protobuf;stream=watch',
  'application/cbor-seq',
]
const PATCHES = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
  'application/apply-patch+cbor',
]

const CUSTOM_OBJECTS = ['application/json', 'application/yaml']
const CUSTOM_PATCHES = ['application/json-patch+json', 'application/merge-patch+json', 'application/apply-patch+yaml']

const PROXY_METHODS: readonly HttpMethod[] = ['get', 'put', 'post', 'delete', 'patch', 'head', 'options']

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)

export function groupVersionPath(group: string, version: string): string {
  return group === '' ? `/api/${version}` : `/apis/${group}/${version}`
}

/** Every operation of a resource and its subresources, the deprecated watch paths included. */
export function operationsOf(resource: ResourceInfo): ApiOperation[] {
  const { group, version, kind, namespaced, verbs } = resource
  const root = groupVersionPath(group, version)
  const within = `${root}${namespaced ? '/namespaces/{namespace}' : ''}/${resource.resource}`
  const subject = namespaced ? `Namespaced${kind}` : kind
  const self: GroupVersionKind = { group, version, kind }
  if (resource.definitionHash !== undefined) return customOperations(resource, root, within, subject)
  const operations = [
    ...collectionOperations(within, self, verbs, subject),
    ...itemOperations(`${within}/{name}`, self, verbs, subject, deleteResponse(resource)),
    ...resource.subresources.flatMap((sub) => subresourceOperations(`${within}/{name}/${sub.name}`, subject, sub)),
  ]
  if (namespaced && verbs.includes('list'))
    operations.push(list(`${root}/${resource.resource}`, self, `${kind}ForAllNamespaces`))
  if (verbs.includes('watch')) operations.push(...watchOperations(root, resource, self, subject))
  return operations
}

/** Custom objects are JSON or YAML; strategic merge patches and the old paths of watches are not theirs. */
function customOperations(resource: ResourceInfo, root: string, within: string, subject: string): ApiOperation[] {
  const { group, version, kind, namespaced, verbs, subresources } = resource
  const self: GroupVersionKind = { group, version, kind }
  const lists: GroupVersionKind = { group, version, kind: resource.listKind ?? `${kind}List` }
  const operations = [
    ...collectionOperations(within, self, verbs, subject),
    ...itemOperations(`${within}/{name}`, self, verbs, subject, `${META}.Status`),
    ...subresources.flatMap((sub) => subresourceOperations(`${within}/{name}/${sub.name}`, subject, sub)),
    ...(namespaced ? [list(`${root}/${resource.resource}`, self, `${kind}ForAllNamespaces`)] : []),
  ]
  return operations.map((operation) => ({
    ...operation,
    kind: self,
    consumes: operation.action === 'patch' ? CUSTOM_PATCHES : CUSTOM_OBJECTS,
    produces: CUSTOM_OBJECTS,
    response: operation.action === 'list' ? lists : operation.response,
    codes: operation.action === 'patch' ? [200] : operation.codes,
  }))
}

const deleteResponse = ({ group, version, kind, returnsDeleted }: ResourceInfo): string | GroupVersionKind =>
  returnsDeleted ? { group, version, kind } : `${META}.Status`

const listKind = (kind: GroupVersionKind): GroupVersionKind => ({ ...kind, kind: `${kind.kind}List` })

const list = (path: string, kind: GroupVersionKind, subject: string): ApiOperation => ({
  ...{ path, method: 'get', action: 'list', kind, query: QUERY.list, consumes: ANY, produces: STREAMS },
  ...{ body: undefined, response: listKind(kind), codes: [200], subject },
})

function collectionOperations(
  path: string,
  kind: GroupVersionKind,
  verbs: readonly string[],
  subject: string,
): ApiOperation[] {
  const operations: ApiOperation[] = []
  if (verbs.includes('list')) operations.push(list(path, kind, subject))
  if (verbs.includes('create')) operations.push(create(path, kind, subject))
  if (verbs.includes('deletecollection'))
    operations.push({
      ...{ path, method: 'delete', action: 'deletecollection', kind, query: QUERY.deletecollection, consumes: ANY },
      ...{ produces: OBJECTS, body: `${META}.DeleteOptions`, response: `${META}.Status`, codes: [200] },
      subject: `Collection${subject}`,
    })
  return operations
}

const create = (path: string, kind: GroupVersionKind, subject: string): ApiOperation => ({
  ...{ path, method: 'post', action: 'post', kind, query: QUERY.write, consumes: ANY, produces: OBJECTS },
  ...{ body: kind, response: kind, codes: [200, 201, 202], subject },
})

function itemOperations(
  path: string,
  kind: GroupVersionKind,
  verbs: readonly string[],
  subject: string,
  deleted: string | GroupVersionKind,
): ApiOperation[] {
  const shared = { path, kind, consumes: ANY, produces: OBJECTS, subject }
  const operations: ApiOperation[] = []
  if (verbs.includes('get'))
    operations.push({
      ...shared,
      ...{ method: 'get', action: 'get', query: QUERY.get, body: undefined, response: kind, codes: [200] },
    })
  if (verbs.includes('update'))
    operations.push({
      ...shared,
      ...{ method: 'put', action: 'put', query: QUERY.write, body: kind, response: kind, codes: [200, 201] },
    })
  if (verbs.includes('patch'))
    operations.push({
      ...shared,
      ...{ method: 'patch', action: 'patch', query: QUERY.patch, consumes: PATCHES },
      ...{ body: `${META}.Patch`, response: kind, codes: [200, 201] },
    })
  if (verbs.includes('delete'))
    operations.push({
      ...shared,
      ...{ method: 'delete', action: 'delete', query: QUERY.delete },
      ...{ body: `${META}.DeleteOptions`, response: deleted, codes: [200, 202] },
    })
  return operations
}

function subresourceOperations(path: string, subject: string, sub: SubresourceInfo): ApiOperation[] {
  const kind: GroupVersionKind = { group: sub.group, version: sub.version, kind: sub.kind }
  const own = subject + capital(sub.name)
  if (sub.name in CONNECT_QUERY) return connectOperations(path, kind, own, sub)
  if (sub.name === 'log')
    return [
      {
        ...{ path, method: 'get', action: 'get', kind, query: LOG_QUERY, consumes: ANY },
        ...{ produces: ['text/plain', ...OBJECTS], body: undefined, response: 'string', codes: [200], subject: own },
      },
    ]
  const operations = itemOperations(path, kind, sub.verbs, own, `${META}.Status`)
  if (sub.verbs.includes('create')) operations.push(create(path, kind, own))
  return operations
}

function connectOperations(
  path: string,
  kind: GroupVersionKind,
  subject: string,
  sub: SubresourceInfo,
): ApiOperation[] {
  const methods: readonly HttpMethod[] = sub.name === 'proxy' ? PROXY_METHODS : ['get', 'post']
  const paths = sub.name === 'proxy' ? [path, `${path}/{path}`] : [path]
  return paths.flatMap((at) =>
    methods.map((method) => ({
      ...{ path: at, method, action: 'connect', kind, query: CONNECT_QUERY[sub.name]!, consumes: ANY, produces: ANY },
      ...{ body: undefined, response: 'string', codes: [200] },
      subject: at === path ? subject : `${subject}WithPath`,
    })),
  )
}

function watchOperations(
  root: string,
  { resource, namespaced, verbs }: ResourceInfo,
  kind: GroupVersionKind,
  subject: string,
): ApiOperation[] {
  const within = `${root}/watch${namespaced ? '/namespaces/{namespace}' : ''}/${resource}`
  const watch = (path: string, action: string, of: string): ApiOperation => ({
    ...{ path, method: 'get', action, kind, query: QUERY.list, consumes: ANY, produces: STREAMS, body: undefined },
    ...{ response: `${META}.WatchEvent`, codes: [200], subject: of },
  })
  const operations = [watch(within, 'watchlist', `${subject}List`)]
  if (verbs.includes('get')) operations.push(watch(`${within}/{name}`, 'watch', subject))
  if (namespaced) operations.push(watch(`${root}/watch/${resource}`, 'watchlist', `${kind.kind}ListForAllNamespaces`))
  return operations
}
