import type { RequestContext } from '#keelson/registry/generic/strategy.js'

/** What a strategy knows of a request that a test makes: an update by somebody in the namespace `default`, at time 0. */
export function requestContext(given: Partial<RequestContext> = {}): RequestContext {
  return {
    namespace: 'default',
    resource: '',
    subresource: '',
    verb: 'update',
    apiGroup: '',
    apiVersion: 'v1',
    user: { name: 'somebody', uid: '', groups: [], extra: {} },
    dryRun: false,
    now: () => 0,
    addWarning: () => undefined,
    ...given,
  }
}
