/** Thread: main. Objects that every cluster has: namespaces, priority classes, the default service range. */
import { isDeepStrictEqual } from 'node:util'
import type { KubeObject } from '../../api/object.js'
import type { BootstrapTask } from './bootstrap.js'
import type { LoopbackClient } from './loopback-client.js'

const NAMESPACES = ['default', 'kube-system', 'kube-public', 'kube-node-lease']
const MINUTE_MS = 60_000
const CIDR_SYNC_MS = 10_000
const SYSTEM_CRITICAL = 2_000_000_000

export const SYSTEM_NAMESPACES_TASK = 'system namespaces'
export const SERVICE_CIDR_TASK = 'default service CIDR'

/** The namespaces are also made again when somebody has deleted one. */
export const systemNamespaces = (client: LoopbackClient): BootstrapTask => ({
  name: SYSTEM_NAMESPACES_TASK,
  everyMs: MINUTE_MS,
  run: async () => {
    await Promise.all(
      NAMESPACES.map((name) =>
        client.ensure('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }),
      ),
    )
  },
})

export const systemPriorityClasses = (client: LoopbackClient): BootstrapTask => ({
  name: 'system priority classes',
  run: async () => {
    const classes = [
      {
        name: 'system-node-critical',
        value: SYSTEM_CRITICAL + 1000,
        description: 'Used for system critical pods that must not be moved from their current node.',
      },
      {
        name: 'system-cluster-critical',
        value: SYSTEM_CRITICAL,
        description:
          'Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.',
      },
    ]
    await Promise.all(
      classes.map(({ name, value, description }) =>
        client.ensure('/apis/scheduling.k8s.io/v1/priorityclasses', {
          apiVersion: 'scheduling.k8s.io/v1',
          kind: 'PriorityClass',
          metadata: { name },
          value,
          description,
        }),
      ),
    )
  },
})

interface ServiceCIDR extends KubeObject {
  spec?: { cidrs?: string[] }
  status?: { conditions?: { type?: string; status?: string }[] }
}

const CIDRS = '/apis/networking.k8s.io/v1/servicecidrs'
const CIDR_NAME = 'kubernetes'
const CIDR_MANAGER = 'kubernetes-service-cidr-controller'

/** The ranges of the flags as a ServiceCIDR: it is made once, widened to a second family, and said to be ready. */
export function defaultServiceCIDR(client: LoopbackClient, cidrs: readonly string[], now: () => string): BootstrapTask {
  const identity = { apiVersion: 'networking.k8s.io/v1', kind: 'ServiceCIDR', metadata: { name: CIDR_NAME } }
  const current = async (): Promise<ServiceCIDR | undefined> => {
    const found = (await client.get(`${CIDRS}/${CIDR_NAME}`)) as ServiceCIDR | undefined
    if (found !== undefined) return found
    const created = await client.create(CIDRS, { ...identity, spec: { cidrs: [...cidrs] } })
    return created ?? client.get(`${CIDRS}/${CIDR_NAME}`)
  }
  return {
    name: SERVICE_CIDR_TASK,
    everyMs: CIDR_SYNC_MS,
    run: async () => {
      const found = await current()
      const had = found?.spec?.cidrs ?? []
      if (found === undefined || found.metadata?.deletionTimestamp !== undefined) return
      if (cidrs.length === 2 && had.length === 1 && had[0] === cidrs[0]) {
        await client.update(`${CIDRS}/${CIDR_NAME}`, { ...found, spec: { ...found.spec, cidrs: [...cidrs] } })
        return
      }
      const ready = (found.status?.conditions ?? []).find(({ type }) => type === 'Ready')
      if (!isDeepStrictEqual(had, [...cidrs]) || ready?.status === 'True' || ready?.status === 'False') return
      const condition = {
        type: 'Ready',
        status: 'True',
        message: 'Kubernetes default Service CIDR is ready',
        lastTransitionTime: now(),
      }
      await client.apply(
        `${CIDRS}/${CIDR_NAME}/status`,
        { ...identity, status: { conditions: [condition] } },
        CIDR_MANAGER,
      )
    },
  }
}
