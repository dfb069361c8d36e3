import t from 'tap'
import type { WebhookClientConfig } from '#keelson/api/generated/kinds/admissionregistration.v1.js'
import type { KubeObject } from '#keelson/api/object.js'
import { newNotFound } from '#keelson/api/status.js'
import { makeCertificate } from '#keelson/main/certificates/certificate.js'
import type { RESTDependencies } from '#keelson/registry/generic/rest-dependencies.js'
import type { RequestContext } from '#keelson/registry/generic/strategy.js'
import { bundleFault, webhookWarningHooks } from '#keelson/registry/generic/webhook-warnings.js'
import { requestContext } from '../../support/request-context.js'

const inBase64 = (text: string): string => Buffer.from(text).toString('base64')
const { certificate } = makeCertificate({
  commonName: 'authority',
  use: 'authority',
  notBeforeMs: Date.UTC(2026, 0, 1),
  notAfterMs: Date.UTC(2036, 0, 1),
})

type Configuration = KubeObject & { readonly clients: Record<string, WebhookClientConfig> }
const configuration = (clients: Record<string, WebhookClientConfig>): Configuration => ({
  metadata: { name: 'c' },
  clients,
})

/** What there is: a namespace with services. */
const OBJECTS: Readonly<Record<string, KubeObject>> = {
  'namespaces//here': {},
  'services/here/good': { spec: { clusterIP: '10.0.0.1', ports: [{ port: 443 }, { port: 8443 }] } },
  'services/here/headless': { spec: { clusterIP: 'None', ports: [{ port: 443 }] } },
  'services/here/elsewhere': { spec: { type: 'ExternalName', externalName: 'example.com' } },
}

function hooksOf() {
  const logged: unknown[] = []
  const endpoints = {
    find: ({ resource }: { resource: string }) => ({
      store: {
        get: async ({ namespace }: RequestContext, name: string) => {
          const found = OBJECTS[`${resource}/${namespace}/${name}`]
          if (found === undefined) throw newNotFound({ group: '', resource }, name)
          return found
        },
      },
    }),
  }
  const logger = { warn: (fields: unknown) => void logged.push(fields) }
  const hooks = webhookWarningHooks<Configuration>({ endpoints, logger } as unknown as RESTDependencies, (object) =>
    Object.entries(object.clients),
  )
  return { hooks, logged }
}

async function warningsOf(client: WebhookClientConfig, more: Partial<RequestContext> = {}): Promise<string[]> {
  const { hooks, logged } = hooksOf()
  const warnings: string[] = []
  const context = { ...requestContext(), addWarning: (text: string) => void warnings.push(text), ...more }
  await hooks.beginCreate?.(configuration({ 'w.example.com': client }), context)
  t.equal(logged.length, warnings.length, 'each warning is in the log too')
  return warnings
}

t.test('services that are not there, or cannot be called', async (t) => {
  const service = (name: string, port?: number, namespace = 'here') => ({
    service: { namespace, name, ...(port === undefined ? {} : { port }) },
  })
  t.same(await warningsOf(service('good')), [])
  t.same(await warningsOf(service('good', 8443)), [])
  t.same(await warningsOf(service('elsewhere', 1)), [])
  t.match(await warningsOf(service('good', 80)), [/webhook "w.example.com" cannot be called: .* no port 80/])
  t.match(await warningsOf(service('headless')), [/no cluster IP/])
  t.match(await warningsOf(service('unknown')), [/there is no service here\/unknown/])
  t.same(await warningsOf(service('unknown', 443, 'not-there-yet')), [], 'its namespace may follow')
  t.same(await warningsOf(service('unknown'), { dryRun: true }), [], 'a dry run leaves nothing')
  t.same(await warningsOf({ url: 'https://example.com' }), [])
})

t.test('bundles without a certificate', async (t) => {
  const url = 'https://example.com'
  t.match(await warningsOf({ url, caBundle: inBase64('garbage') }), [/caBundle holds no certificate/])
  const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'
  t.match(await warningsOf({ url, caBundle: inBase64(broken) }), [/no certificate/])
  t.equal(bundleFault({ caBundle: inBase64(certificate) }), undefined)
  t.equal(bundleFault({ caBundle: inBase64(`# ours\n${broken}${certificate}`) }), undefined, 'one is enough')
  t.equal(bundleFault({ caBundle: inBase64('  \n') }), undefined, 'blank means the authorities of the system')
  t.equal(bundleFault({}), undefined)
})

t.test('an update warns of what it changes', async (t) => {
  const { hooks } = hooksOf()
  const bad = { service: { namespace: 'here', name: 'unknown' } }
  const warnings: string[] = []
  const context = { ...requestContext(), addWarning: (text: string) => void warnings.push(text) }
  await hooks.beginUpdate?.(configuration({ a: bad }), configuration({ a: { ...bad } }), context)
  t.same(warnings, [])
  await hooks.beginUpdate?.(configuration({ a: bad, b: bad }), configuration({ a: bad }), context)
  t.match(warnings, [/webhook "b"/])
})
