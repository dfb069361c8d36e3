/**
 * Thread: controllers. Cluster roles with an aggregation rule have the rules of all cluster roles that it selects. After every
 * change of a cluster role those that gather are computed anew, and written where they differ.
 */
import { type AggregatableRole, aggregatableRole, aggregate, ruleObject } from '../auth/authz/aggregation.js'
import type { Controller } from './framework/controller.js'
import { failedWith } from './framework/controller-client.js'

const NAME = 'clusterrole-aggregation-controller'
/** One key: what a role gathers hangs on all others, so they are computed together. */
const ALL = 'all'

export const clusterRoleAggregation: Controller = {
  name: NAME,
  account: NAME,
  requires: ['clusterroles.rbac.authorization.k8s.io'],
  start({ client, resource, follow, queue }) {
    const clusterRoles = resource('clusterroles.rbac.authorization.k8s.io')
    const roles = new Map<string, AggregatableRole>()
    const work = queue({
      sync: async () => {
        const { apiVersion, kind } = clusterRoles
        for (const [name, rules] of aggregate([...roles.values()])) {
          const body = { apiVersion, kind, metadata: { name }, rules: rules.map(ruleObject) }
          try {
            // Of an aggregated role the rules are this controller's, and nothing else is.
            await client.patch(clusterRoles, { namespace: '', name }, body, { type: 'apply', fieldManager: NAME })
          } catch (error) {
            if (!failedWith(error, 'NotFound')) throw error
          }
        }
      },
    })
    follow(clusterRoles, {
      onReset: () => roles.clear(),
      onPut: (role) => {
        roles.set(role.name, aggregatableRole(role.read()))
        work.add(ALL)
      },
      onDelete: ({ name }) => {
        roles.delete(name)
        work.add(ALL)
      },
    })
  },
}
