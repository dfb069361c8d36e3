/** Thread: audit. Events as an audit.k8s.io/v1 EventList, posted to whom the kubeconfig names. */
import type { WebhookClient } from '../../auth/webhook-client.js'
import type { AuditBackend } from './audit-backend.js'
import { eventText, type ReadEvent } from './event-text.js'

export class WebhookBackend implements AuditBackend {
  readonly name = 'webhook'
  readonly #client: Pick<WebhookClient, 'send' | 'close'>

  constructor(client: Pick<WebhookClient, 'send' | 'close'>) {
    this.#client = client
  }

  async write(events: readonly ReadEvent[]): Promise<void> {
    if (events.length === 0) return
    const items = events.map(eventText).join(',')
    await this.#client.send(`{"kind":"EventList","apiVersion":"audit.k8s.io/v1","metadata":{},"items":[${items}]}`)
  }

  close(): Promise<void> | void {
    return this.#client.close()
  }
}
