import { chooseEngine, type HttpEngineName } from '#keelson/main/http/engine-choice.js'
import type { EngineChoice } from '#keelson/main/http/http-engine.js'

/** The engine that tests run on: KEELSON_TEST_ENGINE=node makes it that of Node. */
export const testEngine = (process.env['KEELSON_TEST_ENGINE'] ?? 'auto') as HttpEngineName

export const testEngineChoice = (): EngineChoice => chooseEngine(testEngine, () => undefined)

/** What servers that tests start are told; a test that says it itself is not told again. */
export const engineFlags = (flags: readonly string[]): string[] =>
  testEngine === 'auto' || flags.some((flag) => flag.startsWith('--http-engine')) ? [] : [`--http-engine=${testEngine}`]
