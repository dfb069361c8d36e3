import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { temporaryFolder } from '../support/temporary-folder.js'
import { until } from '../support/until.js'
import { faultsArguments, storageOf } from './arguments.js'

const SCRIPT = fileURLToPath(new URL('./index.js', import.meta.url))

function errorsOf(...argv: string[]): readonly string[] {
  const given = faultsArguments(['--storage', 'embedded', ...argv])
  return 'errors' in given ? given.errors : []
}

t.test('what is wrong with the arguments is told, all at once', async (t) => {
  t.same(errorsOf(), [])
  t.same(errorsOf('--seconds', 'abc', '--runs', '0', '--seed', '~1'), [
    '--seed ~1: a whole number from 0 on',
    '--runs 0: a whole number from 1 on',
    '--seconds abc: a whole number from 3 on',
  ])
  t.match(errorsOf('--only', 'a fire'), [/there is no such fault/])
  t.match(errorsOf('--only', 'isolate the leader'), [/need etcd/])
  t.same(errorsOf('--only', 'kill a server'), [])
  t.match(errorsOf('--check', '/nowhere/history.jsonl'), [/no such file/])
  t.match(errorsOf('--storage', 'etcd2'), [/there are etcd, embedded, both/])
  t.match(errorsOf('--colour'), [/colour/])
  t.same(faultsArguments(['-h']), { help: true })
})

t.test('with both storages the seed decides', async (t) => {
  t.same(
    [1, 2, 3].map((seed) => storageOf('both', seed)),
    ['embedded', 'etcd', 'embedded'],
  )
})

t.test('an interrupted run leaves no process, no mount and no folder', async (t) => {
  const folder = temporaryFolder(t, 'interrupted')
  const child = spawn(process.execPath, [SCRIPT, '--storage', 'embedded', '--seconds', '60'], {
    stdio: 'ignore',
    env: { ...process.env, TMPDIR: folder },
  })
  const ended = once(child, 'exit')
  // The log of the server is there when it has been started.
  await until(() => readdirSync(folder, { recursive: true }).some((name) => String(name).endsWith('a.log')), {
    what: 'the server of the run',
    everyMs: 20,
  })
  child.kill('SIGINT')
  t.same(await ended, [130, null])
  t.same(readdirSync(folder), [])
  const mentions = (pid: string): boolean => {
    const file = `/proc/${pid}/cmdline`
    try {
      return readFileSync(file, 'utf8').includes(folder)
    } catch (error) {
      // It ended while we looked.
      if (error instanceof Error) return false
      throw error
    }
  }
  if (existsSync('/proc/mounts')) {
    t.notOk(readFileSync('/proc/mounts', 'utf8').includes(folder), 'nothing is mounted')
    await until(() => !readdirSync('/proc').some((name) => /^\d+$/.test(name) && mentions(name)), {
      what: 'the end of all processes of the run',
      everyMs: 50,
    })
  }
})
