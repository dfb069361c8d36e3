/** The process of ExtensionServer: what it is to serve comes in the first message; it answers with its port. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { WebSocketServer } from 'ws'

interface Start {
  readonly certificate: string
  readonly key: string
  readonly frontProxyCa: string
  readonly group: string
  readonly version: string
  readonly legacy?: boolean
  readonly port?: number
}

const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'

process.once('message', (start: Start) => {
  const groupVersion = `${start.group}/${start.version}`
  const server = createServer(
    { cert: start.certificate, key: start.key, ca: start.frontProxyCa, requestCert: true, rejectUnauthorized: false },
    (request, response) => answer(start, groupVersion, request, response),
  )
  const sockets = new WebSocketServer({ server })
  sockets.on('connection', (socket, request) => {
    socket.send(JSON.stringify({ user: request.headers['x-remote-user'], url: request.url }))
    socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }))
  })
  server.listen(start.port ?? 0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
})

function answer(start: Start, groupVersion: string, request: IncomingMessage, response: ServerResponse): void {
  const json = (status: number, value: unknown, type = 'application/json'): void => {
    response.writeHead(status, { 'content-type': type })
    response.end(JSON.stringify(value))
  }
  if (!(request.socket as TLSSocket).authorized) {
    json(401, { kind: 'Status', code: 401 })
    return
  }
  const url = new URL(request.url ?? '/', 'https://here')
  const root = `/apis/${groupVersion}`
  if (url.pathname === '/apis' && request.headers.accept?.includes('apidiscovery') === true && start.legacy !== true)
    json(200, aggregated(start), AGGREGATED)
  else if (url.pathname === '/apis') json(406, {})
  else if (url.pathname === '/openapi/v3')
    json(200, {
      paths: { [`apis/${groupVersion}`]: { serverRelativeURL: `/openapi/v3/apis/${groupVersion}?hash=W1` } },
    })
  else if (url.pathname === `/openapi/v3/apis/${groupVersion}`)
    json(200, { openapi: '3.0.0', info: { title: 'weather' } })
  else if (url.pathname === '/openapi/v2') swagger(start, request, response)
  else if (url.pathname === root)
    json(200, { kind: 'APIResourceList', apiVersion: 'v1', groupVersion, resources: RESOURCES })
  else if (url.pathname.startsWith(`${root}/`)) resource(groupVersion, url, request, response, json)
  else json(404, { kind: 'Status', code: 404 })
}

/** One definition has the name of a built-in one, and is another. */
function swagger({ group, version }: Start, request: IncomingMessage, response: ServerResponse): void {
  const TAKEN = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'
  const etag = '"weather-1"'
  if (request.headers['if-none-match'] === etag) {
    response.writeHead(304, { etag })
    response.end()
    return
  }
  response.writeHead(200, { 'content-type': 'application/json', etag })
  response.end(
    JSON.stringify({
      swagger: '2.0',
      info: { title: 'weather', version },
      paths: {
        [`/apis/${group}/${version}/forecasts`]: {
          get: { responses: { 200: { description: 'OK', schema: { $ref: '#/definitions/weather.Forecast' } } } },
        },
        '/elsewhere': { get: {} },
      },
      definitions: {
        'weather.Forecast': { type: 'object', properties: { metadata: { $ref: `#/definitions/${TAKEN}` } } },
        [TAKEN]: { type: 'object', description: 'not the one that is built in' },
      },
    }),
  )
}

const RESOURCES = [
  { name: 'forecasts', singularName: 'forecast', namespaced: true, kind: 'Forecast', verbs: ['get', 'list', 'watch'] },
  { name: 'forecasts/talk', singularName: '', namespaced: true, kind: 'Forecast', verbs: ['get'] },
]

const aggregated = ({ group, version }: Start): object => ({
  kind: 'APIGroupDiscoveryList',
  apiVersion: 'apidiscovery.k8s.io/v2',
  metadata: {},
  items: [
    {
      metadata: { name: group },
      versions: [
        {
          version,
          freshness: 'Current',
          resources: [
            {
              resource: 'forecasts',
              responseKind: { group, version, kind: 'Forecast' },
              scope: 'Namespaced',
              singularResource: 'forecast',
              verbs: ['get', 'list', 'watch'],
            },
          ],
        },
      ],
    },
  ],
})

function resource(
  groupVersion: string,
  url: URL,
  request: IncomingMessage,
  response: ServerResponse,
  json: (status: number, value: unknown) => void,
): void {
  if (url.searchParams.get('watch') === 'true' || url.searchParams.get('watch') === '1') {
    response.writeHead(200, { 'content-type': 'application/json' })
    let count = 0
    const timer = setInterval(() => {
      response.write(
        `${JSON.stringify({ type: 'ADDED', object: { kind: 'Forecast', metadata: { name: `f${++count}` } } })}\n`,
      )
    }, 20)
    response.once('close', () => clearInterval(timer))
    return
  }
  let size = 0
  request.on('data', (chunk: Buffer) => {
    size += chunk.byteLength
  })
  request.once('end', () =>
    json(200, {
      kind: 'Forecast',
      apiVersion: groupVersion,
      metadata: { name: 'told' },
      told: { method: request.method, url: request.url, size, headers: request.headers },
    }),
  )
}
