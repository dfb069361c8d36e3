import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { KubeconfigError, parseKubeconfig } from '#keelson/auth/kubeconfig.js'
import { WebhookClient, WebhookError } from '#keelson/auth/webhook-client.js'
import type { Clock } from '#keelson/lib/clock.js'
import type { Kubeconfig } from '#keelson/protocol/kubeconfig.js'

const nothing = (): string => {
  throw new Error('no file is named')
}

const KUBECONFIG = `
apiVersion: v1
kind: Config
clusters:
  - name: hook
    cluster: {server: "https://hook.example:8443/authn/", certificate-authority: ca.pem, tls-server-name: hook}
users:
  - name: server
    user: {client-certificate-data: Q0VSVA==, client-key: key.pem, token: secret}
contexts:
  - name: webhook
    context: {cluster: hook, user: server}
current-context: webhook
`

t.test('a kubeconfig says whom to call and as whom', async (t) => {
  const read: string[] = []
  const config = parseKubeconfig(KUBECONFIG, (name) => {
    read.push(name)
    return `text of ${name}`
  })
  t.strictSame(config, {
    server: 'https://hook.example:8443/authn',
    serverName: 'hook',
    insecureSkipVerify: false,
    ca: 'text of ca.pem',
    clientCertificate: 'CERT',
    clientKey: 'text of key.pem',
    token: 'secret',
    basic: undefined,
  })
  t.strictSame(read.sort(), ['ca.pem', 'key.pem'])
})

t.test('what a kubeconfig lacks is said', async (t) => {
  const broken = (change: (text: string) => string) => () => parseKubeconfig(change(KUBECONFIG), () => '')
  t.throws(
    broken((text) => text.replace('current-context: webhook', 'current-context: other')),
    new KubeconfigError('there is no context "other"'),
  )
  t.throws(
    broken((text) => text.replace('cluster: hook, user', 'cluster: none, user')),
    new KubeconfigError('there is no cluster "none"'),
  )
  t.throws(
    broken((text) => text.replace('https://', 'ftp://')),
    KubeconfigError,
  )
  t.throws(() => parseKubeconfig('[]', nothing), new KubeconfigError('the file is no kubeconfig'))
  t.throws(() => parseKubeconfig('{', nothing), KubeconfigError)
})

async function hook(
  t: { teardown(handler: () => void): void },
  answer: (body: string, call: number) => { status: number; body: string },
) {
  let calls = 0
  const server: Server = createServer((request, response) => {
    let text = ''
    request.on('data', (chunk: Buffer) => {
      text += chunk.toString()
    })
    request.on('end', () => {
      const { status, body } = answer(text, ++calls)
      response.writeHead(status, { 'content-type': 'application/json' }).end(body)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const kubeconfig: Kubeconfig = {
    server: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    serverName: undefined,
    insecureSkipVerify: false,
    ca: undefined,
    clientCertificate: undefined,
    clientKey: undefined,
    token: 'secret',
    basic: undefined,
  }
  const pauses: number[] = []
  const clock: Clock = {
    now: () => 0,
    monotonicMs: () => 0,
    after: (delayMs, callback) => {
      // The time that a whole try may take is none that passes here.
      if (delayMs === 10_000) return { cancel: () => undefined }
      pauses.push(delayMs)
      setImmediate(callback)
      return { cancel: () => undefined }
    },
  }
  const client = new WebhookClient({ kubeconfig, clock, random: () => 0 })
  t.teardown(() => {
    client.close()
    server.close()
  })
  return { client, pauses, calls: () => calls }
}

t.test('an answer that may pass by itself is asked for again, with growing pauses', async (t) => {
  const { client, pauses, calls } = await hook(t, (body, call) =>
    call < 3 ? { status: 503, body: '' } : { status: 201, body },
  )
  t.strictSame(await client.review({ kind: 'TokenReview' }), { kind: 'TokenReview' })
  t.strictSame(pauses, [500, 750])
  t.equal(calls(), 3)
})

t.test('after five tries it is an error', async (t) => {
  const { client, calls } = await hook(t, () => ({ status: 500, body: '' }))
  await t.rejects(client.review({}), new WebhookError('the webhook answered with status 500', true))
  t.equal(calls(), 5)
})

t.test('a refusal and an answer that makes no sense are not asked for again', async (t) => {
  for (const answer of [
    { status: 403, body: '' },
    { status: 200, body: 'no' },
    { status: 200, body: '[]' },
    { status: 200, body: '{}' },
    { status: 200, body: '{"error":"no backend"}' },
    { status: 200, body: '{"kind":"TokenReview","apiVersion":"a/v2"}' },
    { status: 200, body: `"${'x'.repeat(2 << 20)}"` },
  ]) {
    const { client, calls } = await hook(t, () => answer)
    await t.rejects(client.review({ kind: 'TokenReview', apiVersion: 'a/v1' }), WebhookError)
    t.equal(calls(), 1)
  }
})
