/** A webhook that lets everything pass, in a process of its own; it says where it is and ends with who started it. */
import { WebhookHost } from '#keelson/main/webhook-host.js'

const host = new WebhookHost({ '/allow': () => ({ allowed: true }) })
await host.start()
process.send?.(host.clientConfig('/allow'))
process.on('disconnect', () => process.exit())
