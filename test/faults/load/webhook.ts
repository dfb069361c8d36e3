/**
 * The webhook that servers ask about some of the load: it stamps what is written with the token of the write, refuses some tokens, and
 * remembers what it was asked about. In one namespace nothing is written without it, in another one without its answer too.
 */
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { TestAuthority } from '../../support/certificates.js'
import type { HistoryRecord, Operation } from '../check/history.js'
import { type LoadObject, STAMP, TOKEN } from './recorder.js'
import { LEASES, LENIENT_NAMESPACE, prefixOf, STRICT_NAMESPACE } from './resources.js'

interface Review {
  readonly apiVersion: string
  readonly request: { readonly uid: string; readonly object: LoadObject | null }
}

/** Shorter than clients wait, so that they learn what became of their write. */
const TIMEOUT_SECONDS = 2
const REFUSED_EVERY = 9

const isRefused = (token: string): boolean => Number(token.slice(1)) % REFUSED_EVERY === 0

export class Webhook {
  readonly #server: Server
  readonly #authority: string
  /** The tokens that it was asked to validate. */
  readonly #asked = new Set<string>()

  private constructor(server: Server, authority: string) {
    this.#server = server
    this.#authority = authority
  }

  static async open(): Promise<Webhook> {
    const authority = await TestAuthority.create()
    const { certificate, key } = await authority.sign('CN=webhook')
    const server = createServer({ cert: certificate, key })
    const webhook = new Webhook(server, authority.certificate)
    server.on('request', (incoming, outgoing) => {
      const chunks: Buffer[] = []
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
      incoming.on('end', () => {
        const review = JSON.parse(Buffer.concat(chunks).toString()) as Review
        outgoing.end(JSON.stringify(webhook.#answer(incoming.url!.startsWith('/mutate'), review)))
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return webhook
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  close(): Promise<void> {
    this.#server.closeAllConnections()
    return new Promise((resolve) => this.#server.close(() => resolve()))
  }

  /** What makes servers ask it, over a line that ends at this port. */
  configurations(port: number): { readonly path: string; readonly body: object }[] {
    return (['Mutating', 'Validating'] as const).map((kind) => {
      const verb = kind === 'Mutating' ? 'mutate' : 'validate'
      const hook = (namespace: string, failurePolicy: 'Fail' | 'Ignore') => ({
        name: `${verb}.${namespace}.faults.example.com`,
        clientConfig: {
          url: `https://127.0.0.1:${port}/${verb}`,
          caBundle: Buffer.from(this.#authority).toString('base64'),
        },
        failurePolicy,
        timeoutSeconds: TIMEOUT_SECONDS,
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
        rules: [
          {
            apiGroups: ['coordination.k8s.io'],
            apiVersions: ['v1'],
            resources: [LEASES.name],
            operations: ['CREATE', 'UPDATE'],
          },
        ],
      })
      return {
        path: `/apis/admissionregistration.k8s.io/v1/${kind.toLowerCase()}webhookconfigurations`,
        body: {
          apiVersion: 'admissionregistration.k8s.io/v1',
          kind: `${kind}WebhookConfiguration`,
          metadata: { name: `faults-${verb}` },
          webhooks: [hook(STRICT_NAMESPACE, 'Fail'), hook(LENIENT_NAMESPACE, 'Ignore')],
        },
      }
    })
  }

  /** Every write that was acknowledged where nothing is written without it. */
  problems(history: readonly HistoryRecord[]): string[] {
    const prefix = prefixOf(LEASES, STRICT_NAMESPACE)
    return history
      .filter(
        (record): record is Operation =>
          record.kind === 'operation' && record.result === 'ok' && record.token !== undefined,
      )
      .filter(({ key }) => key.startsWith(prefix))
      .flatMap(({ verb, key, token }) => {
        if (isRefused(token!))
          return [`the ${verb} of ${key} (${token}) was refused by the webhook, and is acknowledged`]
        return this.#asked.has(token!)
          ? []
          : [`the ${verb} of ${key} (${token}) is acknowledged, and no webhook saw it`]
      })
  }

  #answer(isMutating: boolean, { apiVersion, request }: Review): object {
    const token = request.object?.metadata.annotations?.[TOKEN]
    const answer = (response: object): object => ({
      kind: 'AdmissionReview',
      apiVersion,
      response: { uid: request.uid, allowed: true, ...response },
    })
    if (token === undefined) return answer({})
    if (isMutating) {
      const patch = [{ op: 'add', path: `/metadata/annotations/${STAMP.replace('/', '~1')}`, value: token }]
      return answer({ patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(patch)).toString('base64') })
    }
    this.#asked.add(token)
    return answer(isRefused(token) ? { allowed: false, status: { code: 403, message: 'not this one' } } : {})
  }
}
