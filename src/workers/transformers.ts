/** Thread: any. Encryption at rest as the flags ask for it; undefined without a configuration file. */
import { systemClock } from '../lib/clock.js'
import type { Logger } from '../lib/logger.js'
import { nullLogger } from '../lib/logger.js'
import type { EtcdOptions } from '../storage/factory-options.js'
import { DynamicTransformers } from '../storage/transformers/dynamic-transformers.js'
import { loadEncryptionConfig } from '../storage/transformers/encryption-config-loader.js'
import type { ResourceTransformers } from '../storage/transformers/resource-transformers.js'

export interface OpenTransformers {
  readonly transformers: ResourceTransformers
  /** Rejects when a key service is unwell. */
  check(): Promise<void>
  close(): void
}

export async function openTransformers(
  { encryptionProviderConfig, encryptionProviderConfigAutomaticReload }: EtcdOptions,
  logger: Logger = nullLogger,
): Promise<OpenTransformers | undefined> {
  if (encryptionProviderConfig === '') return undefined
  const initial = await loadEncryptionConfig(encryptionProviderConfig, { clock: systemClock, logger })
  if (!encryptionProviderConfigAutomaticReload) return initial
  const transformers = new DynamicTransformers({
    filePath: encryptionProviderConfig,
    initial,
    clock: systemClock,
    logger,
  })
  transformers.start()
  return { transformers, check: () => transformers.check(), close: () => transformers.stop() }
}
