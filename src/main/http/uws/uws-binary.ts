/**
 * Thread: main. Finds the binary of uWebSockets.js for this system: the newest one in the installed packages that
 * loads, found by trying. Only official binaries are loaded; their hashes are in uws-pins.ts.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { UWS_PINS, type UwsPins } from './uws-pins.js'

/** The packages of the versions, under the names that package.json gives them, the newest first. */
const PACKAGES = ['uws-newest', 'uws-older'] as const

/** A package that was tried, and why its binary cannot be used. */
export interface UwsAttempt {
  readonly package: string
  readonly problem: string
}

export interface UwsBinaryOptions {
  readonly platform: string
  readonly arch: string
  /** The version of Node, such as 22.23.3. */
  readonly version: string
  /** Gives the path of a package's binary; undefined when it has none for this system. */
  readonly find: (packageName: string, system: string) => string | undefined
  readonly read: (file: string) => Uint8Array
  /** Loads a binary; throws the system loader's error. */
  readonly load: (file: string) => unknown
  readonly pins: UwsPins
}

/** The path of the binary that loads, or all attempts when none does. */
export function findUwsBinary(options: UwsBinaryOptions): string | readonly UwsAttempt[] {
  const { platform, arch, version } = options
  const system = `${platform}-${arch}-${version.split('.')[0]}`
  const attempts: UwsAttempt[] = []
  for (const name of PACKAGES) {
    const found = tryPackage(name, system, options)
    if ('file' in found) return found.file
    attempts.push({ package: name, problem: found.problem })
  }
  return attempts
}

function tryPackage(
  name: string,
  system: string,
  { find, read, load, pins }: UwsBinaryOptions,
): { readonly file: string } | { readonly problem: string } {
  const pin = pins[name]?.[system]
  // Without a pin the package has no binary for this system, and a lookup could find that of the other package.
  const file = pin === undefined ? undefined : find(name, system)
  if (file === undefined || pin === undefined) return { problem: `no binary of ${name} for ${system}` }
  try {
    const bytes = read(file)
    if (!isPinned(bytes, pin)) return { problem: `${file} is not the official binary` }
    load(file)
    return { file }
  } catch (error) {
    return { problem: firstLine(error) }
  }
}

const firstLine = (error: unknown): string => (error instanceof Error ? error.message : String(error)).split('\n')[0]!

/**
 * Whether the bytes have the pinned hash: `sha256:` of the file, or `git:`, the object name that the official
 * repository's tree gives the file.
 */
function isPinned(bytes: Uint8Array, pin: string): boolean {
  const hash = pin.startsWith('git:')
    ? `git:${createHash('sha1').update(`blob ${bytes.byteLength}\0`).update(bytes).digest('hex')}`
    : `sha256:${createHash('sha256').update(bytes).digest('hex')}`
  return hash === pin
}

/** Resolves packages from this file's place; it lies equally deep in the package in dist/ and in the bundle. */
const fromHere = createRequire(import.meta.url)

function findInstalled(packageName: string, system: string): string | undefined {
  try {
    return createRequire(fromHere.resolve(packageName)).resolve(`@uwsjs/${system}/uws.node`)
  } catch {
    // The package is optional, and npm does not install it where it does not fit the system.
    return undefined
  }
}

export const loadUwsBinary = (file: string): unknown => fromHere(file)

export const installedUws = (): UwsBinaryOptions => ({
  platform: process.platform,
  arch: process.arch,
  version: process.versions.node,
  find: findInstalled,
  read: (file) => readFileSync(file),
  load: loadUwsBinary,
  pins: UWS_PINS,
})
