/**
 * Thread: main. What makes a first start fail in ways that nobody understands, said in one line each, with what to do. Imports
 * nothing: a Node that is too old must be able to load it.
 */

/** What package.json says. Older ones lack functions that are imported by name. */
const OLDEST_NODE = [20, 19] as const

/** Why this Node cannot run the server; undefined: it can. */
export function nodeProblem(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [oldest, oldestMinor] = OLDEST_NODE
  if (major > oldest || (major === oldest && minor >= oldestMinor)) return undefined
  return `Node ${version} is too old: Keelson needs ${oldest}.${oldestMinor} or newer, best 24; https://nodejs.org has it, or \`npx --package node@24 keelson\``
}

/** When this was written: no clock that is right can say less. */
const WRITTEN_MS = Date.UTC(2026, 0, 1)
/** Certificates end before this; clocks that count from elsewhere are far beyond. */
const FAR_MS = Date.UTC(2100, 0, 1)

/** Why certificates and tokens of this moment will be good for nobody; undefined: they may. The server starts all the same. */
export function clockProblem(nowMs: number): string | undefined {
  if (nowMs >= WRITTEN_MS && nowMs < FAR_MS) return undefined
  const shown = new Date(nowMs).toISOString().slice(0, 10)
  return `the clock of this machine says ${shown}: certificates and tokens that are made now are not valid elsewhere; set the clock, remove the certificates and start again`
}
