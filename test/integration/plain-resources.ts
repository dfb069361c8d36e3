import { identityTransformer } from '#keelson/storage/contract/transformer.js'
import type { OwnerResources } from '#keelson/workers/owner/owner-resources.js'
import { jsonDraft } from '../support/plain-object.js'

/** Objects stored as plain JSON: what the owner needs to cache them. */
export function openOwnerResources(): OwnerResources {
  return { transformer: () => identityTransformer, recordDraft: () => jsonDraft }
}
