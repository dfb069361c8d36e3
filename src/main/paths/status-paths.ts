/** Thread: main, or a front end's own. /statusz and /flagz: since when which server runs, and with which flags. For people. */
import { KUBERNETES_VERSION } from '../../api/catalogue.js'
import { acceptsType } from '../../api/media-type.js'
import type { Clock } from '../../lib/clock.js'
import type { NonResourcePaths } from './non-resource-paths.js'

const TEXT = 'text/plain; charset=utf-8'
const WARNING =
  'Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for debugging purposes only.'

export interface StatusPathsOptions {
  /** Which of the two are served. */
  readonly features: { readonly statusz: boolean; readonly flagz: boolean }
  /** The values of flags by name. */
  readonly flags: Readonly<Record<string, string>>
  readonly startedMs: number
  readonly clock: Clock
}

export function installStatusPaths(paths: NonResourcePaths, options: StatusPathsOptions): void {
  const { features, flags, startedMs, clock } = options
  const show = (path: string, text: () => string): void => {
    paths.exact(path, (exchange) => {
      if (acceptsType(exchange.head.accept, 'text/plain')) exchange.respond({ status: 200, contentType: TEXT }, text())
      else exchange.respond({ status: 406, contentType: TEXT }, 'media type not acceptable, must be: text/plain\n')
      return undefined
    })
  }
  const statusz = (): string => {
    const folders = [...new Set(paths.paths().map((path) => `/${path.split('/')[1]}`))]
    return [
      '',
      'keelson statusz',
      WARNING,
      '',
      `Started: ${new Date(startedMs).toUTCString()}`,
      `Up: ${uptime(clock.now() - startedMs)}`,
      `Node version: ${process.version}`,
      `Binary version: ${KUBERNETES_VERSION.slice(1)}`,
      `Emulation version: ${KUBERNETES_VERSION.slice(1).split('.').slice(0, 2).join('.')}`,
      `Paths: ${folders.join(' ')}`,
      '',
    ].join('\n')
  }
  if (features.statusz) show('/statusz', statusz)
  const lines = Object.entries(flags)
    .map(([name, value]) => `${name}=${withoutPasswords(value)}`)
    .sort()
  if (features.flagz) show('/flagz', () => ['', 'keelson flags', WARNING, '', ...lines, ''].join('\n'))
}

/** Takes out what stands between // and @ in an address. Other secrets stand in files, which flags only name. */
export const withoutPasswords = (value: string): string => value.replace(/(:\/\/)[^/@,\s]*@/g, '$1REDACTED@')

function uptime(ms: number): string {
  const seconds = Math.floor(ms / 1000)
  const two = (n: number): string => String(n).padStart(2, '0')
  return `${Math.floor(seconds / 3600)} hr ${two(Math.floor(seconds / 60) % 60)} min ${two(seconds % 60)} sec`
}
