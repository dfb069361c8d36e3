/**
 * Thread: main, or a front end's own. The page at /ui: files without any data. Whoever opens it is asked for a token, and
 * everything it shows comes over the API with that token; without one there is nothing to see.
 */

import { readFileSync } from 'node:fs'
import { lookupTable } from '../../lib/lookup-table.js'
import { moduleUrl } from '../../lib/module-url.js'
import type { Exchange } from '../http/exchange.js'
import type { NonResourcePaths } from './non-resource-paths.js'

const TYPES: Readonly<Record<string, string>> = lookupTable({
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
})
const FILES: ReadonlySet<string> = new Set([
  'index.html',
  'style.css',
  'icon.svg',
  'app.js',
  'api.js',
  'view.js',
  'charts.js',
  'metrics-text.js',
  'overview.js',
  'objects.js',
  'live-table.js',
  'yaml-view.js',
])
/** The page holds a token, so it loads nothing from elsewhere and may stand in no frame. */
const HEADERS = [
  'Content-Security-Policy',
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options',
  'nosniff',
  'Referrer-Policy',
  'no-referrer',
]

export function installUi(paths: NonResourcePaths): void {
  const files = new Map<string, Buffer>()
  const serve = (exchange: Exchange, name: string): undefined => {
    if (!FILES.has(name)) {
      paths.notFound(exchange)
      return undefined
    }
    let bytes = files.get(name)
    if (bytes === undefined) {
      bytes = readFileSync(moduleUrl(`ui/${name}`))
      files.set(name, bytes)
    }
    const contentType = TYPES[name.slice(name.lastIndexOf('.') + 1)]!
    exchange.respond({ status: 200, contentType, headers: HEADERS }, bytes)
    return undefined
  }
  paths.public('/ui', (exchange) => serve(exchange, 'index.html'))
  for (const name of FILES) paths.public(`/ui/${name}`, (exchange) => serve(exchange, name))
}
