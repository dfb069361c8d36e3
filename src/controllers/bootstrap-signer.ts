/**
 * Thread: controllers. Signs `kube-public/cluster-info` with every bootstrap token that may sign: who has such a token, and
 * nothing else yet, can tell that the cluster's address and authority were written by somebody who has it too.
 */
import { createHmac } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { ConfigMap, Secret } from '../api/generated/kinds/core.v1.js'
import { timeMs } from '../api/time.js'
import type { Clock } from '../lib/clock.js'
import type { Controller } from './framework/controller.js'
import { failedWith } from './framework/controller-client.js'
import { isToken, tokenField } from './token-cleaner.js'

const PLACE = { namespace: 'kube-public', name: 'cluster-info' }
const CONTENT = 'kubeconfig'
const SIGNATURE = 'jws-kubeconfig-'

export const bootstrapSigner: Controller = {
  name: 'bootstrap-signer-controller',
  account: 'bootstrap-signer',
  requires: ['secrets', 'configmaps'],
  start({ client, clock, objects, resource, follow, queue }) {
    const secrets = resource('secrets')
    const configMaps = resource('configmaps')
    const work = queue({
      workers: 1,
      sync: async (key) => {
        const info = await objects.get<ConfigMap>(configMaps, PLACE)
        const content = info?.data?.[CONTENT]
        if (info === undefined || content === undefined) return
        const tokens: Secret[] = []
        await objects.visit(secrets, 'kube-system', (secret) => {
          if (isToken(secret)) tokens.push(secret.read<Secret>())
        })
        const others = Object.entries(info.data ?? {}).filter(([name]) => !name.startsWith(SIGNATURE))
        const signatures = tokens
          .map((secret) => signingToken(secret, clock))
          .filter((token) => token !== undefined)
          .map(({ id, secret }) => [`${SIGNATURE}${id}`, signature(content, id, secret)] as const)
        const data = Object.fromEntries([...others, ...signatures])
        if (!isDeepStrictEqual(data, { ...info.data }))
          await client.update(configMaps, { ...info, data }).catch((error: unknown) => {
            if (!failedWith(error, 'NotFound')) throw error
          })
        // A token that expires takes its signature with it.
        const ends = tokens.map((secret) => timeMs(tokenField(secret, 'expiration')) - clock.now())
        const next = Math.min(...ends.filter((ms) => ms > 0))
        if (Number.isFinite(next)) work.addAfter(key, next)
      },
    })
    const look = (): void => work.add(PLACE.name)
    follow(configMaps, {
      onPut: ({ namespace, name }) => {
        if (namespace === PLACE.namespace && name === PLACE.name) look()
      },
      onDelete: () => undefined,
    })
    follow(secrets, {
      onPut: (secret, previous) => {
        if (isToken(secret) || (previous !== undefined && isToken(previous))) look()
      },
      onDelete: (secret) => {
        if (isToken(secret)) look()
      },
    })
  },
}

function signingToken(secret: Secret, clock: Clock): { readonly id: string; readonly secret: string } | undefined {
  const field = (name: string): string => tokenField(secret, name)
  const [id, token, expiration] = [field('token-id'), field('token-secret'), field('expiration')]
  if (id === '' || token === '' || secret.metadata?.name !== `bootstrap-token-${id}`) return undefined
  if (field('usage-bootstrap-signing') !== 'true') return undefined
  const isExpired = expiration !== '' && !(timeMs(expiration) > clock.now())
  return isExpired ? undefined : { id, secret: token }
}

/** A JSON web signature without its content in the middle. */
function signature(content: string, id: string, secret: string): string {
  const encode = (text: string): string => Buffer.from(text).toString('base64url')
  const head = encode(JSON.stringify({ alg: 'HS256', kid: id }))
  const mac = createHmac('sha256', secret)
    .update(`${head}.${encode(content)}`)
    .digest('base64url')
  return `${head}..${mac}`
}
