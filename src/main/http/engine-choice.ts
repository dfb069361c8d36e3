/**
 * Thread: main. Chooses the HTTP engine: the one that --http-engine names, or with `auto` uWebSockets.js where its
 * binary loads and else Node's own modules.
 */
import type { EngineChoice, EngineOptions, HttpEngine } from './http-engine.js'
import { NodeEngine } from './node/node-engine.js'
import { findUwsBinary, installedUws, type UwsBinaryOptions } from './uws/uws-binary.js'
import { UwsEngine } from './uws/uws-engine.js'

export const HTTP_ENGINES = ['auto', 'uws', 'node'] as const
export type HttpEngineName = (typeof HTTP_ENGINES)[number]

export class EngineError extends Error {
  override readonly name = 'EngineError'
  readonly code = 'engine'
}

/**
 * `say` is given one line for the log when `auto` could not have uWebSockets.js. Throws EngineError when `uws` was
 * asked for and no binary loads.
 */
export function chooseEngine(
  wanted: HttpEngineName,
  say: (line: string) => void,
  installed: UwsBinaryOptions = installedUws(),
): EngineChoice {
  if (wanted === 'node') return { name: 'node' }
  const found = findUwsBinary(installed)
  if (typeof found === 'string') return { name: 'uws', binary: found }
  const why = `uWebSockets.js does not load here (${found.map(({ problem }) => problem).join('; ')})`
  if (wanted === 'uws') throw new EngineError(`${why}: --http-engine=node serves without it`)
  say(`${why}: HTTP is served by Node's own modules, which --http-engine=node asks for`)
  return { name: 'node' }
}

/**
 * Whether several threads can listen on one port, so that the kernel shares the connections out among them. Node's
 * modules can do this (`reusePort`) on Linux, from 22.12 and 23.1 on. Elsewhere the system may let several listen, but gives all
 * connections to one of them.
 */
export function sharesPort(
  choice: EngineChoice,
  platform = process.platform,
  version = process.versions.node,
): boolean {
  if (platform !== 'linux') return false
  if (choice.name === 'uws') return true
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major > 23 || (major === 23 && minor >= 1) || (major === 22 && minor >= 12)
}

export const makeEngine = (choice: EngineChoice, options: EngineOptions): HttpEngine =>
  choice.name === 'node' ? new NodeEngine(options) : new UwsEngine(options, choice.binary)
