/**
 * Thread: main. V8's compiled code of the bundle is kept between starts, where Node can (22.1 and newer): about a seventh of the processor
 * time of a start (docs/adr/0035-cold.md). It lies beside the bundle and nowhere else: whoever may write there can change the code
 * itself, while a folder for everybody, as Node chooses by itself, would let others choose what the server runs.
 */
import { accessSync, constants, existsSync } from 'node:fs'
import module from 'node:module'
import path from 'node:path'

/** Newer than the types of the oldest Node that is supported. */
interface Keeping {
  enableCompileCache?: (folder: string) => unknown
}

/** Node's own variable. Threads read it when they start: what enableCompileCache() says counts for the thread that says it alone. */
const VARIABLE = 'NODE_COMPILE_CACHE'
const SWITCHED_OFF = 'NODE_DISABLE_COMPILE_CACHE'

/** Called before the bundle is loaded. A folder that cannot be written to, as in an image, is read from when it is there. */
export function keepCompiledCode(
  bundleFolder: string,
  environment: NodeJS.ProcessEnv,
  keeping: Keeping = module as unknown as Keeping,
): void {
  if (keeping.enableCompileCache === undefined || environment[SWITCHED_OFF] !== undefined) return
  const folder = environment[VARIABLE] ?? path.join(bundleFolder, 'compiled')
  if (!existsSync(folder) && !isWritable(bundleFolder)) return
  environment[VARIABLE] = folder
  keeping.enableCompileCache(folder)
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK)
    return true
  } catch {
    return false
  }
}
