/** One attack from beginning to end: server, world, quiet client, attackers, and what is looked at after. */
import { setMaxListeners } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { networkInterfaces, tmpdir } from 'node:os'
import path from 'node:path'
import { TestAuthority } from '../support/certificates.js'
import { type Attacker, AttackLog, isBrokenConnection, pause } from './attack.js'
import { AttackedServer } from './attacked-server.js'
import { cutConnections } from './attackers/cut-connections.js'
import { fewRights } from './attackers/few-rights.js'
import { hostileBackends } from './attackers/hostile-backends.js'
import { pressure } from './attackers/pressure.js'
import { randomBodies } from './attackers/random-bodies.js'
import { slowReaders } from './attackers/slow-readers.js'
import { HostileBackend } from './hostile-backend.js'
import { QuietProcess } from './quiet-process.js'
import type { Outcome } from './report.js'
import { ServerWatch } from './server-watch.js'
import { prepareWorld, untouched } from './world.js'

export const ATTACKERS: readonly Attacker[] = [
  fewRights,
  hostileBackends,
  slowReaders,
  cutConnections,
  randomBodies,
  pressure,
]

export interface RunOptions {
  readonly seconds: number
  readonly seed: number
  readonly only: readonly string[]
  readonly flags: readonly string[]
  /** Told when the attack begins and, if the server ends, why it is over early. */
  readonly say: (text: string) => void
}

const QUIET_WITHIN_MS = 90_000
const STOP_WITHIN_MS = 60_000
const ENDING_WITHIN_MS = 30_000
const LOOK_MS = 15_000
/** Attackers that hold more than this are wrong themselves, and would soon take the memory of the whole machine. */
const ATTACKERS_BYTES = 2 * 1024 ** 3

/** Everything that stands around the server. */
class Battlefield {
  readonly folder = mkdtempSync(path.join(tmpdir(), 'keelson-attack-'))
  readonly hostileKubelet: HostileBackend
  readonly trapKubelet: HostileBackend
  readonly hostilePage = new HostileBackend()
  readonly #flags: string[]

  private constructor(identity: ConstructorParameters<typeof HostileBackend>[0], flags: string[]) {
    this.hostileKubelet = new HostileBackend(identity)
    this.trapKubelet = new HostileBackend(identity)
    this.#flags = flags
  }

  static async prepare(): Promise<Battlefield> {
    const authority = await TestAuthority.create()
    const flags: string[] = []
    const field = new Battlefield(await authority.sign('CN=kubelet'), flags)
    const file = (name: string, text: string): string => {
      const full = path.join(field.folder, name)
      writeFileSync(full, text)
      return full
    }
    const client = await authority.sign('CN=kube-apiserver')
    flags.push(
      `--kubelet-certificate-authority=${file('ca.pem', authority.certificate)}`,
      `--kubelet-client-certificate=${file('client.pem', client.certificate)}`,
      `--kubelet-client-key=${file('client.key', client.key)}`,
    )
    return field
  }

  async start(more: readonly string[]): Promise<AttackedServer> {
    await this.hostileKubelet.listen('127.0.0.1')
    await this.trapKubelet.listen('127.0.0.1')
    await this.hostilePage.listen(ownAddress() ?? '127.0.0.1')
    return AttackedServer.start(this.folder, [...this.#flags, ...more])
  }

  async prepareWorld(server: AttackedServer): Promise<void> {
    const [hostileKubelet, trapKubelet, hostilePage] = [this.hostileKubelet, this.trapKubelet, this.hostilePage].map(
      ({ port }) => port,
    ) as [number, number, number]
    await prepareWorld(server, { hostileKubelet, trapKubelet, hostilePage, pageAddress: ownAddress() })
  }

  async close(): Promise<void> {
    await Promise.all([this.hostileKubelet.close(), this.trapKubelet.close(), this.hostilePage.close()])
    rmSync(this.folder, { recursive: true, force: true })
  }
}

const ownAddress = (): string | undefined =>
  Object.values(networkInterfaces())
    .flat()
    .find((one) => one !== undefined && one.family === 'IPv4' && !one.internal)?.address

export async function runAttack({ seconds, seed, only, flags, say }: RunOptions): Promise<Outcome> {
  const attackers = ATTACKERS.filter(({ name }) => only.length === 0 || only.includes(name))
  const field = await Battlefield.prepare()
  let server: AttackedServer | undefined
  try {
    server = await field.start(flags)
    await field.prepareWorld(server)
    const before = await untouched(server)
    const quietProcess = await QuietProcess.start(server)
    const watch = new ServerWatch(server)
    const log = new AttackLog()
    say(`process ${server.pid} on port ${server.port} is attacked for ${seconds} s with seed ${seed}`)
    watch.start()
    await fight(attackers, { server, seed, log }, seconds, before)
    const died = server.ended
    if (died !== undefined) say(`the server ended: ${died}`)
    const figures = watch.stop()
    const quiet = died === undefined ? await quietProcess.finish(QUIET_WITHIN_MS) : undefined
    const touched = died === undefined ? await changes(server, before) : []
    const answersAfter = died === undefined && (await server.admin('GET', '/readyz')).status === 200
    const ended = await server.stop(STOP_WITHIN_MS)
    log.count('hostile-backends answered', field.hostileKubelet.answered + field.hostilePage.answered)
    const common = { seed, seconds, attackers: attackers.map(({ name }) => name), log, figures, quiet, died }
    const errors = server.errors.filter((line) => !isOfHostileBackend(line))
    return { ...common, errors, touched, trapped: field.trapKubelet.requests, answersAfter, ended }
  } catch (error) {
    // What the server said last is all that is left of it.
    say(
      `the run failed while the server ${server?.ended ?? 'was there'}: ${server?.errors.slice(-20).join('\n') ?? ''}`,
    )
    throw error
  } finally {
    // When the run itself fails, the server does not stay behind.
    await server?.stop(STOP_WITHIN_MS)
    await field.close()
  }
}

/** The prober's requests fail because of what stands behind the proxy: the server says so, rightly, as an error of a request. */
const isOfHostileBackend = (line: string): boolean =>
  line.includes('"msg":"a request failed"') && line.includes('"user":"prober"')

/** Until the time is over, or the server is. */
async function fight(
  attackers: readonly Attacker[],
  { server, seed, log }: { readonly server: AttackedServer; readonly seed: number; readonly log: AttackLog },
  seconds: number,
  before: ReadonlyMap<string, string>,
): Promise<void> {
  const over = new AbortController()
  const { signal } = over
  // Every connection of every attacker listens for the end.
  setMaxListeners(0, signal)
  const running = Promise.all(attackers.map((attacker) => attacker.run({ server, seed, signal, log })))
  const deadline = performance.now() + seconds * 1000
  const looking = (async () => {
    for (let nextMs = performance.now() + LOOK_MS; performance.now() < deadline && server.ended === undefined; ) {
      await pause(100, signal)
      const held = process.memoryUsage.rss()
      log.heldMiB = Math.max(log.heldMiB, held / 1024 ** 2)
      if (held > ATTACKERS_BYTES) throw new Error(`the attackers hold ${held} bytes themselves`)
      if (performance.now() < nextMs) continue
      nextMs += LOOK_MS
      await look(server, before, log)
    }
    over.abort()
  })()
  try {
    await Promise.all([running, looking])
  } catch (error) {
    // Connections are refused some time before the process has ended: why it did is what is to be told.
    if ((await server.endedWithin(ENDING_WITHIN_MS)) === undefined) throw error
  } finally {
    over.abort()
  }
}

/**
 * A look that does not get through is counted and left out: whether the server hangs or the machine does is for the quiet client to
 * tell, and after the attack there is a last look that must get through.
 */
async function look(server: AttackedServer, before: ReadonlyMap<string, string>, log: AttackLog): Promise<void> {
  try {
    for (const change of await changes(server, before)) log.wrong('admin', `changed: ${change}`)
  } catch (error) {
    if (!isBrokenConnection(error)) throw error
    log.count('admin broken')
  }
}

async function changes(server: AttackedServer, before: ReadonlyMap<string, string>): Promise<string[]> {
  const after = await untouched(server)
  return [...before]
    .filter(([url, was]) => after.get(url) !== was)
    .map(([url, was]) => `${url}: ${difference(was, after.get(url) ?? '')}`)
}

function difference(before: string, after: string): string {
  const [was, is] = [new Set(before.split(' ')), new Set(after.split(' '))]
  return [
    ...[...was].filter((one) => !is.has(one)).map((one) => `-${one}`),
    ...[...is].filter((one) => !was.has(one)).map((one) => `+${one}`),
  ].join(' ')
}
