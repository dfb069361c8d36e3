// Finds etcd on the PATH, else installs Debian's package when it can.
import { spawnSync } from 'node:child_process'

const answers = (command, args) => spawnSync(command, args, { stdio: 'ignore' }).status === 0

/** @returns {{ found: true } | { found: false, why: string }} */
export function ensureEtcd() {
  if (answers('etcd', ['--version'])) return { found: true }
  const isRoot = process.getuid?.() === 0
  if (!answers('apt-get', ['--version']))
    return { found: false, why: 'etcd is not on the PATH and there is no apt-get to install it with' }
  if (!isRoot)
    return { found: false, why: 'etcd is not on the PATH; as root, "apt-get install etcd-server" would install it' }
  console.error('etcd is not on the PATH: installing Debian’s etcd-server…')
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const apt = (...args) => spawnSync('apt-get', args, { stdio: ['ignore', 'ignore', 'inherit'], env })
  // The package starts a service where there is systemd; the tests start their own etcd on loopback.
  apt('update', '-qq')
  apt('install', '-y', '-qq', '--no-install-recommends', 'etcd-server')
  return answers('etcd', ['--version'])
    ? { found: true }
    : { found: false, why: 'etcd is not on the PATH and Debian’s etcd-server could not be installed' }
}
