/** Older clients: kubectl that is told to speak SPDY, through the engine that can let go of a connection, to a kubelet that speaks it too. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import net, { type Socket } from 'node:net'
import path from 'node:path'
import t from 'tap'
import { chooseEngine } from '#keelson/main/http/engine-choice.js'
import { TestAuthority } from '../support/certificates.js'
import { KeelsonProcess } from '../support/keelson-process.js'
import { Kubectl } from '../support/kubectl.js'
import { TestKubelet } from '../support/kubelet.js'
import { sendRaw } from '../support/raw-http.js'
import { dictionaryOfKubectl, SpdySession, type SpdyStream } from '../support/spdy-session.js'
import { temporaryFolder } from '../support/temporary-folder.js'
import { until } from '../support/until.js'

const PODS = '/api/v1/namespaces/default/pods'
const MERGE = { 'content-type': 'application/merge-patch+json' }
const SPDY = { KUBECTL_REMOTE_COMMAND_WEBSOCKETS: 'false', KUBECTL_PORT_FORWARD_WEBSOCKETS: 'false' }
const dictionary = dictionaryOfKubectl()

const exit = (code: number): string =>
  JSON.stringify(
    code === 0
      ? { metadata: {}, status: 'Success' }
      : {
          metadata: {},
          status: 'Failure',
          reason: 'NonZeroExitCode',
          message: `command terminated with exit code ${code}`,
          details: { causes: [{ reason: 'ExitCode', message: String(code) }] },
        },
  )

/** Runs a command once all its streams are there: the words of TestKubelet. */
function execute(socket: Socket, { searchParams }: URL): void {
  const [name = '', argument = '0'] = searchParams.getAll('command')
  const wanted = 1 + ['input', 'output', 'error'].filter((query) => searchParams.get(query) === '1').length
  const streams: Record<string, SpdyStream> = {}
  const session = new SpdySession(socket, dictionary!, (stream) => {
    streams[stream.headers['streamtype'] ?? ''] = stream
    if (Object.keys(streams).length === wanted) run()
  })
  const end = (code: number): void => {
    streams['error']!.send(exit(code), true)
    for (const type of ['stdout', 'stderr']) streams[type]?.send('', true)
    session.end()
  }
  const run = (): void => {
    const { stdin, stdout, stderr } = streams
    if (stdin !== undefined) {
      stdin.onData = (data) => stdout!.send(data)
      stdin.onEnd = () => end(0)
    } else if (name === 'flood') {
      stdout!.send(Buffer.alloc(Number(argument), 'x'))
      end(0)
    } else {
      stderr!.send('about to end\n')
      end(Number(argument))
    }
  }
}

/** What comes in on a port goes back in capitals. */
function forward(socket: Socket): void {
  new SpdySession(socket, dictionary!, (stream) => {
    if (stream.headers['streamtype'] !== 'data') return
    stream.onData = (data) => stream.send(data.toString().toUpperCase())
    stream.onEnd = () => stream.send('', true)
  })
}

/** The local port that kubectl forwards, once it says so. */
async function forwardedPort(kubectl: ChildProcess): Promise<number> {
  let said = ''
  kubectl.stdout!.on('data', (chunk: Buffer) => {
    said += chunk.toString()
  })
  await until(() => /127\.0\.0\.1:(\d+) ->/.test(said), { what: 'kubectl to forward a port' })
  return Number(/127\.0\.0\.1:(\d+) ->/.exec(said)![1])
}

const authority = await TestAuthority.create()
const kubelet = await TestKubelet.start({
  identity: await authority.sign('CN=kubelet'),
  authority: authority.certificate,
})
t.teardown(() => kubelet.close())
const folder = temporaryFolder(t, 'spdy')
const own = await authority.sign('CN=kube-apiserver')
const file = (name: string, text: string): string => {
  const full = path.join(folder, name)
  writeFileSync(full, text)
  return full
}
const flags = [
  `--kubelet-client-certificate=${file('own.pem', own.certificate)}`,
  `--kubelet-client-key=${file('own.key', own.key)}`,
]
const server = await KeelsonProcess.start([...flags, '--http-engine=node'])
t.teardown(() => server.close())
/** A running pod on a node whose kubelet is ours. */
async function made(target: KeelsonProcess): Promise<void> {
  const status = {
    addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
    daemonEndpoints: { kubeletEndpoint: { Port: kubelet.port } },
  }
  const spec = { nodeName: 'n', containers: [{ name: 'c', image: 'i' }] }
  const steps: [string, string, object, Record<string, string>?][] = [
    ['POST', '/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } }],
    ['PATCH', '/api/v1/nodes/n/status', { status }, MERGE],
    ['POST', PODS, { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec }],
    ['PATCH', `${PODS}/p/status`, { status: { phase: 'Running' } }, MERGE],
  ]
  for (const [method, url, body, headers] of steps) {
    const { status: code, text } = await target.request(method, url, body, headers)
    if (code > 201) throw new Error(`${method} ${url}: ${text}`)
  }
}
await made(server)

t.test('kubectl over SPDY', { skip: dictionary === undefined && 'there is no kubectl with SPDY' }, async (t) => {
  const kubectl = new Kubectl(server.url)
  t.teardown(() => kubectl.close())

  await t.test('runs commands, whose ends and outputs it gets whole', async (t) => {
    kubelet.spdy = execute
    const failed = await kubectl.run(['exec', 'p', '--', 'exit', '7'], SPDY)
    t.equal(failed.code, 7, failed.stderr)
    t.match(failed.stderr, 'about to end')
    t.match(kubelet.requests.at(-1), /^POST \/exec\/default\/p\/c/)
    t.equal(kubelet.callers.at(-1), 'kube-apiserver')
    const flood = await kubectl.run(['exec', 'p', '--', 'flood', '4000000'], SPDY)
    t.equal(flood.stdout.length, 4_000_000, flood.stderr)
  })

  await t.test('sends input', async (t) => {
    kubelet.spdy = execute
    const child = spawn('kubectl', ['--server', server.url, 'exec', '-i', 'p', '--', 'cat'], {
      env: { PATH: process.env['PATH'], HOME: folder, ...SPDY },
    })
    let said = ''
    child.stdout.on('data', (chunk: Buffer) => {
      said += chunk.toString()
    })
    child.stdin.end('over SPDY')
    await once(child, 'close')
    t.equal(said, 'over SPDY')
  })

  await t.test('forwards ports', async (t) => {
    kubelet.spdy = forward
    const child = spawn('kubectl', ['--server', server.url, 'port-forward', 'pod/p', ':8080'], {
      env: { PATH: process.env['PATH'], HOME: folder, ...SPDY },
    })
    t.teardown(() => child.kill())
    const client = net.connect(await forwardedPort(child), '127.0.0.1')
    t.teardown(() => client.destroy())
    client.write('abc')
    const [answer] = (await once(client, 'data')) as [Buffer]
    t.equal(answer.toString(), 'ABC')
    t.match(kubelet.requests.at(-1), /^POST \/portForward\/default\/p/)
  })
})

const upgrade = (protocol: string): string =>
  `POST ${PODS}/p/exec?command=cat&stdin=true HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nConnection: Upgrade\r\n` +
  `Upgrade: ${protocol}\r\nX-Stream-Protocol-Version: v4.channel.k8s.io\r\n\r\n`

t.test('bytes go both ways as they are, and the end of one side ends the other', async (t) => {
  let socket: Socket | undefined
  kubelet.spdy = (given) => {
    socket = given
    given.pipe(given)
  }
  const { port } = new URL(server.url)
  const client = net.connect(Number(port), '127.0.0.1')
  t.teardown(() => client.destroy())
  // What comes right behind the head belongs to the other protocol already.
  client.write(`${upgrade('SPDY/3.1')}early`)
  let said = ''
  client.on('data', (chunk: Buffer) => {
    said += chunk.toString('latin1')
  })
  await until(() => said.endsWith('early'), { what: 'the early bytes' })
  t.match(said, /^HTTP\/1\.1 101 Switching Protocols\r\n/)
  t.match(said, /X-Stream-Protocol-Version: v4\.channel\.k8s\.io\r\n/)
  socket!.destroy()
  await once(client, 'end')
})

t.test('a client that does not read holds the kubelet up', async (t) => {
  let socket: Socket | undefined
  kubelet.spdy = (given) => {
    given.on('error', () => given.destroy())
    socket = given
  }
  const client = net.connect(Number(new URL(server.url).port), '127.0.0.1')
  t.teardown(() => client.destroy())
  client.write(upgrade('SPDY/3.1'))
  await once(client, 'data')
  client.pause()
  const chunk = Buffer.alloc(1 << 20)
  let sent = 0
  while (socket!.writableLength === 0 && sent < 256) {
    socket!.write(chunk)
    sent++
    await server.request('GET', '/livez')
  }
  t.ok(sent < 256, `the kubelet waits after ${sent} MiB`)
  client.destroy()
  await until(() => socket!.destroyed, { what: 'the end of the kubelet’s connection' })
})

t.test('what is not spoken is refused', async (t) => {
  t.match((await sendRaw(server.url, upgrade('h2c'))).text, /400[\s\S]*h2c is not spoken here/)
})

const withoutUws = chooseEngine('auto', () => undefined).name !== 'uws' && 'no binary of uWebSockets.js loads here'
t.test('the engine that cannot let go of a connection says which one can', { skip: withoutUws }, async (t) => {
  const other = await KeelsonProcess.start([...flags, '--http-engine=uws'])
  t.teardown(() => other.close())
  await made(other)
  t.match((await sendRaw(other.url, upgrade('SPDY/3.1'))).text, /400[\s\S]*with --http-engine=node only/)
})
