/**
 * What the users of few rights may do: a table from which the roles are made, and beside it a reading of requests of its
 * own. It shares nothing with the server's: what the two disagree on is a finding.
 */
export interface Right {
  readonly verbs: readonly string[]
  readonly group: string
  /** With its subresource. */
  readonly resource: string
  /** Undefined: in all, and without one. */
  readonly namespace?: string
  readonly name?: string
}

export const FEW_RIGHTS: Readonly<Record<string, readonly Right[]>> = {
  watcher: [
    { verbs: ['get', 'list', 'watch'], group: '', resource: 'pods', namespace: 'dev' },
    { verbs: ['watch'], group: 'apps', resource: 'deployments' },
  ],
  editor: [
    {
      verbs: ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'],
      group: '',
      resource: 'configmaps',
      namespace: 'dev',
    },
    { verbs: ['get'], group: '', resource: 'secrets', namespace: 'dev', name: 'mine' },
  ],
  namer: [
    { verbs: ['get', 'update', 'patch'], group: '', resource: 'configmaps', namespace: 'dev', name: 'c1' },
    { verbs: ['get'], group: '', resource: 'pods/status', namespace: 'dev', name: 'dp' },
  ],
  nobody: [],
  anonymous: [],
}

/** What a default cluster lets everybody do who has shown who they are. */
const OF_ALL: readonly Right[] = ['selfsubjectaccessreviews', 'selfsubjectrulesreviews']
  .map((resource): Right => ({ verbs: ['create'], group: 'authorization.k8s.io', resource }))
  .concat({ verbs: ['create'], group: 'authentication.k8s.io', resource: 'selfsubjectreviews' })

const HEALTH = /^\/(?:healthz|livez|readyz|version\/?)$/
const DISCOVERY = /^\/(?:api|apis|openapi)(?:\/.*)?$/
/** The page and its files hold nothing and are for everybody. */
const PAGE = /^\/(?:ui(?:\/.*)?|favicon\.ico)?$/

interface Meaning {
  readonly verb: string
  readonly group: string
  readonly resource: string
  readonly namespace: string
  readonly name: string
}

/** Whether an answer of success is one that this user may have. Where a path can be read in two ways, either will do. */
export function mayHave(user: string, method: string, target: string): boolean {
  const [rawPath = '', query = ''] = [target.split('?', 1)[0], target.slice(target.indexOf('?') + 1)]
  const whole = decode(rawPath)
  const readings = [whole.split('/'), rawPath.split('/').map(decode)].map((parts) =>
    parts.filter((part) => part !== ''),
  )
  return readings.some((parts) => {
    const path = `/${parts.join('/')}`
    const meaning = read(method, parts, target.includes('?') ? query : '')
    if (meaning === undefined) return isForAll(user, method, path) || isForAll(user, method, whole)
    const rights = [...(FEW_RIGHTS[user] ?? []), ...(user === 'anonymous' ? [] : OF_ALL)]
    return rights.some((right) => allows(right, meaning))
  })
}

/** Where no resource is named, the method in small letters is the verb. */
const isForAll = (user: string, method: string, path: string): boolean =>
  ['GET', 'HEAD', 'OPTIONS'].includes(method.toUpperCase()) &&
  (HEALTH.test(path) || PAGE.test(path) || (user !== 'anonymous' && DISCOVERY.test(path)))

const allows = (right: Right, { verb, group, resource, namespace, name }: Meaning): boolean =>
  right.verbs.includes(verb) &&
  right.group === group &&
  right.resource === resource &&
  (right.namespace === undefined || right.namespace === namespace) &&
  (right.name === undefined || right.name === name)

/** Undefined: it names no resource. */
function read(method: string, parts: readonly string[], query: string): Meaning | undefined {
  const rest = [...parts]
  const prefix = rest.shift()
  const group = prefix === 'apis' ? rest.shift() : ''
  if (prefix === 'apis' ? rest.length < 2 : prefix !== 'api' || rest.length < 2) return undefined
  rest.shift()
  const isWatch = rest[0] === 'watch'
  if (isWatch) rest.shift()
  let namespace = ''
  if (rest[0] === 'namespaces' && rest.length > 2 && !['status', 'finalize'].includes(rest[2]!)) {
    namespace = rest[1]!
    rest.splice(0, 2)
  } else if (rest[0] === 'namespaces') namespace = rest[1] ?? ''
  const [resource = '', name = '', subresource = ''] = rest
  return {
    verb: verbOf(method, name, isWatch, query),
    group: group ?? '',
    resource: subresource === '' ? resource : `${resource}/${subresource}`,
    namespace,
    name,
  }
}

function verbOf(method: string, name: string, isWatch: boolean, query: string): string {
  switch (method) {
    case 'GET':
    case 'HEAD': {
      const parameter = new URLSearchParams(query).get('watch')
      if (isWatch || (name === '' && parameter !== null && !['', '0', 'false'].includes(parameter))) return 'watch'
      return name === '' ? 'list' : 'get'
    }
    case 'POST':
      return 'create'
    case 'PUT':
      return 'update'
    case 'PATCH':
      return 'patch'
    case 'DELETE':
      return name === '' ? 'deletecollection' : 'delete'
    default:
      return method.toLowerCase()
  }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
