/** Thread: any. Encryption at rest as the flags ask for it; undefined without a configuration file. */
import { systemClock } from '../../lib/clock.js'
import type { Logger } from '../../lib/logger.js'
import { nullLogger } from '../../lib/logger.js'
import { storageFamilies } from '../../metrics/families.js'
import type { Recorder } from '../../metrics/recorder.js'
import type { EtcdOptions } from '../../storage/factory/factory-options.js'
import { DynamicTransformers } from '../../storage/transformers/dynamic-transformers.js'
import { loadEncryptionConfig } from '../../storage/transformers/encryption-config-loader.js'
import type { KeyCounter } from '../../storage/transformers/kms/key-counter.js'
import { MeteredTransformers } from '../../storage/transformers/metered-transformers.js'
import type { ResourceTransformers } from '../../storage/transformers/resource-transformers.js'

export interface OpenTransformers {
  readonly transformers: ResourceTransformers
  /** Rejects when a key service is not well. */
  check(): Promise<void>
  close(): void
}

export async function openTransformers(
  { encryptionProviderConfig, encryptionProviderConfigAutomaticReload }: EtcdOptions,
  recorder: Recorder,
  logger: Logger = nullLogger,
): Promise<OpenTransformers | undefined> {
  if (encryptionProviderConfig === '') return undefined
  const keys = keyCounter(recorder)
  const metered = (plain: ResourceTransformers): ResourceTransformers =>
    new MeteredTransformers(plain, recorder, systemClock)
  const initial = await loadEncryptionConfig(encryptionProviderConfig, { clock: systemClock, logger, keys })
  if (!encryptionProviderConfigAutomaticReload) return { ...initial, transformers: metered(initial.transformers) }
  const transformers = new DynamicTransformers({
    filePath: encryptionProviderConfig,
    initial,
    watchesFile: true,
    clock: systemClock,
    logger,
    keys,
  })
  transformers.start()
  return { transformers: metered(transformers), check: () => transformers.check(), close: () => transformers.stop() }
}

function keyCounter(recorder: Recorder): KeyCounter {
  const generations = recorder.series(storageFamilies.keyGenerations)
  const failures = recorder.series(storageFamilies.keyGenerationFailures)
  const misses = recorder.series(storageFamilies.envelopeCacheMisses)
  return {
    generated: (durationMs) => generations.observe(durationMs / 1000),
    failed: () => failures.add(1),
    missed: () => misses.add(1),
  }
}
