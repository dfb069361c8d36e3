/** A watch answers before anything happens: client-go's Watch() returns with the head, and hangs without it. */
import type { Socket } from 'node:net'
import t, { type Test } from 'tap'
import { KeelsonProcess } from '../support/keelson-process.js'
import { open } from '../support/raw-http.js'
import { until } from '../support/until.js'
import { at } from '../support/wire-reader.js'

const CONFIGMAPS = '/api/v1/namespaces/default/configmaps'
const PROTOBUF = 'application/vnd.kubernetes.protobuf'
const partial = (mediaType: string): string => `${mediaType};as=PartialObjectMetadata;g=meta.k8s.io;v=v1`
const FORMS = {
  JSON: 'application/json',
  protobuf: PROTOBUF,
  Table: 'application/json;as=Table;g=meta.k8s.io;v=v1',
  metadata: partial('application/json'),
  'metadata in protobuf': partial(PROTOBUF),
}

/** Takes the chunks of an answer apart by itself: a client library may wait for more than it needs. */
class RawWatch {
  bytes = Buffer.alloc(0)
  readonly #socket: Socket

  constructor(url: string, path: string, accept: string) {
    this.#socket = open(url)
    this.#socket.on('data', (chunk) => {
      this.bytes = Buffer.concat([this.bytes, chunk])
    })
    this.#socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nAccept: ${accept}\r\n\r\n`)
  }

  get headEnd(): number {
    return this.bytes.indexOf('\r\n\r\n')
  }

  body(): Buffer {
    const chunks: Buffer[] = []
    let from = this.headEnd + 4
    for (;;) {
      const line = this.bytes.indexOf('\r\n', from)
      if (line < 0) return Buffer.concat(chunks)
      const length = Number.parseInt(this.bytes.toString('latin1', from, line), 16)
      // The end of a chunk's line may come with the next chunk.
      if (this.bytes.length < line + 2 + length) return Buffer.concat(chunks)
      chunks.push(this.bytes.subarray(line + 2, line + 2 + length))
      from = line + 2 + length + 2
    }
  }

  close(): void {
    this.#socket.destroy()
  }
}

/** Name of the object and type of the event, of each that is there as a whole. */
function jsonEvents(body: Buffer): string[] {
  const lines = body.toString().split('\n').slice(0, -1)
  return lines.map((line) => {
    const { type, object } = JSON.parse(line)
    const { name } = object.metadata?.name === undefined ? object.rows[0].object.metadata : object.metadata
    return `${type} ${name}`
  })
}

function protobufEvents(body: Buffer): string[] {
  const events: string[] = []
  for (let from = 0; from + 4 <= body.length; ) {
    const end = from + 4 + body.readUInt32BE(from)
    if (end > body.length) break
    const event = body.subarray(from + 4, end)
    // WatchEvent.object.raw is an envelope; its message has the metadata first, of which the name is the first field.
    const envelope = at(event, 2, 1).subarray(4)
    events.push(`${at(event, 1)} ${at(envelope, 2, 1, 1)}`)
    from = end
  }
  return events
}

async function headFirst(t: Test, server: KeelsonProcess, accept: string, name: string): Promise<void> {
  const { metadata } = (await server.request('GET', CONFIGMAPS)).json as { metadata: { resourceVersion: string } }
  const watch = new RawWatch(server.url, `${CONFIGMAPS}?watch=true&resourceVersion=${metadata.resourceVersion}`, accept)
  t.teardown(() => watch.close())
  await until(() => watch.headEnd > 0, { what: 'the head of the watch' })
  const events = accept.startsWith(PROTOBUF) ? protobufEvents : jsonEvents
  t.same(events(watch.body()), [], 'nothing has happened yet')
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } }
  for (const each of [name, `${name}-2`])
    await server.request('POST', CONFIGMAPS, { ...body, metadata: { name: each } })
  await server.request('DELETE', `${CONFIGMAPS}/${name}`)
  await until(() => events(watch.body()).length >= 3, { what: 'three events' })
  t.same(events(watch.body()), [`ADDED ${name}`, `ADDED ${name}-2`, `DELETED ${name}`])
}

t.test('the head of a watch comes before its first event, which is whole', async (t) => {
  const server = await KeelsonProcess.start()
  t.teardown(() => server.close())
  for (const [form, accept] of Object.entries(FORMS))
    await t.test(form, (t) => headFirst(t, server, accept, form.toLowerCase().replaceAll(' ', '-')))
})
