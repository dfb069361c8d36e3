/**
 * Certificates that end. Connections that are open go on, so lines are broken once the certificate has ended: then its owner is refused until the
 * fault is over and the files are replaced. A fault that is over before is a replacement alone.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Certificates } from './certificates.js'
import { type Fault, onMember, onServer } from './fault.js'
import type { Link } from './link.js'

/** In certificates times are whole seconds. */
const LIFE_MS = 1500
/** Clients keep their connections: they are to meet the certificate while it is bad. */
const BREAK_EVERY_MS = 700

async function ends(certificates: Certificates, name: string, lines: readonly Link[]): Promise<() => Promise<void>> {
  await certificates.issue(name, LIFE_MS)
  const over = new AbortController()
  const breaking = breakAgain(lines, over.signal)
  return async () => {
    over.abort()
    await breaking
    await certificates.issue(name)
  }
}

async function breakAgain(lines: readonly Link[], signal: AbortSignal): Promise<void> {
  let waitMs = LIFE_MS
  for (;;) {
    await sleep(waitMs, undefined, { signal }).catch(() => undefined)
    if (signal.aborted) return
    for (const line of lines) line.breakAll()
    waitMs = BREAK_EVERY_MS
  }
}

const withTls = (fault: Fault): Fault => ({ ...fault, needsTls: true })

export const CERTIFICATE_FAULTS: readonly Fault[] = [
  // The server looks at its files every five seconds: for so long clients may still meet the bad one when it is replaced.
  onServer('the certificate of a server ends', ({ name, link }, _, { certificates }) =>
    ends(certificates!, name, [link]),
  ),
  {
    ...onServer('the client certificate for etcd ends', ({ clientName, storageLinks }, _, { certificates }) =>
      ends(certificates!, clientName, storageLinks),
    ),
    needsEtcd: true,
  },
  onMember('the certificate of a member ends', (member, { certificates, servers, members }) => {
    const number = members.indexOf(member)
    return ends(
      certificates!,
      member.name,
      servers.map(({ storageLinks }) => storageLinks[number]!),
    )
  }),
  onMember('the certificates of all members end', async (_, { certificates, servers, members }) => {
    const lines = servers.flatMap(({ storageLinks }) => storageLinks)
    const ended = await Promise.all(members.map(({ name }, i) => ends(certificates!, name, i === 0 ? lines : [])))
    return async () => {
      for (const end of ended) await end()
    }
  }),
].map(withTls)
