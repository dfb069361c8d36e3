/** A service for tests that is asked with SubjectAccessReviews, over plain HTTP. */
import { writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import type { JsonObject } from '#keelson/api/object.js'

export interface AskedSpec {
  readonly user?: string
  readonly groups?: readonly string[]
  readonly resourceAttributes?: { readonly verb?: string; readonly resource?: string; readonly namespace?: string }
}

/** The status that it answers with; undefined: it never answers. */
type Answer = (spec: AskedSpec) => JsonObject | undefined

export class AccessWebhook {
  readonly kubeConfigFile: string
  readonly asked: AskedSpec[] = []
  answer: Answer
  readonly #server: Server

  private constructor(server: Server, answer: Answer, file: string) {
    this.#server = server
    this.answer = answer
    this.kubeConfigFile = file
  }

  static async start(folder: string, name: string, answer: Answer): Promise<AccessWebhook> {
    const server = createServer()
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
    const file = path.join(folder, `${name}.kubeconfig`)
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/authorize`
    writeFileSync(file, JSON.stringify({ clusters: [{ name, cluster: { server: address } }] }))
    const webhook = new AccessWebhook(server, answer, file)
    server.on('request', (request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        const review = JSON.parse(Buffer.concat(chunks).toString()) as { spec: AskedSpec }
        webhook.asked.push(review.spec)
        const status = webhook.answer(review.spec)
        if (status !== undefined) response.end(JSON.stringify({ ...review, status }))
      })
    })
    return webhook
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}
