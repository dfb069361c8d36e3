/**
 * The limit of what the machine can do: uWebSockets.js alone, over TLS, with the same bytes. Started by index.ts in a
 * process of its own with the certificate's files; gets bodies by message and says its port.
 */

import type * as uWebSockets from 'uws-newest'
import { findUwsBinary, installedUws, loadUwsBinary } from '#keelson/main/http/uws/uws-binary.js'

const binary = findUwsBinary(installedUws())
if (typeof binary !== 'string') throw new Error(`uWebSockets.js does not load here: ${JSON.stringify(binary)}`)
const uws = loadUwsBinary(binary) as typeof uWebSockets

interface Bodies {
  readonly object: Uint8Array
  readonly list: Uint8Array
  readonly created: Uint8Array
  readonly event: Uint8Array
  readonly eventsEachSecond: number
}

const [certFile = '', keyFile = ''] = process.argv.slice(2)
process.once('message', (bodies: Bodies) => {
  const watchers = new Set<uWebSockets.HttpResponse>()
  const head = (response: uWebSockets.HttpResponse): uWebSockets.HttpResponse =>
    response
      .writeStatus('200 OK')
      .writeHeader('Audit-Id', 'd4506b3c-577d-4373-815c-eea32ae0e6f8')
      .writeHeader('Cache-Control', 'no-cache, private')
      .writeHeader('Content-Type', 'application/json')
  const app = uws.SSLApp({ cert_file_name: certFile, key_file_name: keyFile })
  app.get('/object', (response) => {
    response.cork(() => {
      head(response).end(bodies.object)
    })
  })
  app.get('/list', (response) => {
    response.onAborted(() => undefined)
    response.onWritable((offset) => response.tryEnd(bodies.list.subarray(offset), bodies.list.byteLength)[1])
    response.cork(() => {
      head(response).tryEnd(bodies.list, bodies.list.byteLength)
    })
  })
  app.post('/create', (response) => {
    response.onAborted(() => undefined)
    response.onData((_chunk, isLast) => {
      if (isLast) response.cork(() => head(response).end(bodies.created))
    })
  })
  app.get('/watch', (response) => {
    watchers.add(response)
    response.onAborted(() => void watchers.delete(response))
    response.onWritable(() => {
      watchers.add(response)
      return true
    })
    response.cork(() => head(response).write(' '))
  })
  setInterval(() => {
    // Who does not keep up gets nothing until they do.
    for (const watcher of watchers)
      watcher.cork(() => {
        if (!watcher.write(bodies.event)) watchers.delete(watcher)
      })
  }, 1000 / bodies.eventsEachSecond).unref()
  app.listen('127.0.0.1', 0, (socket) => {
    process.send?.(socket === false ? 0 : uws.us_socket_local_port(socket))
  })
})
