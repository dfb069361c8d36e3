import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pino } from 'pino'
import t from 'tap'
import { compose } from '#keelson/main/compose.js'
import { complete } from '#keelson/main/flags/config.js'
import { parseFlags } from '#keelson/main/flags/flags.js'
import { FLAGS } from '#keelson/main/flags/options.js'
import { until } from '../support/until.js'
import { WatchClient } from '../support/watch-client.js'

const CONFIGMAPS = '/api/v1/namespaces/default/configmaps'
const OBJECTS = 50
const GETS = 1000
const LISTS = 200
const WATCHERS = 20

/** Every ten seconds the server looks after its own service, `kubernetes`: by requests of its own, which nobody waits for. */
const isHousekeeping = (text: string): boolean => /"metadata":\{"name":"kubernetes"/.test(text)

/** Runs `work` and gives every use of JSON on anything but a plain word. */
async function usesOfJson(work: () => Promise<void>): Promise<string[]> {
  const { parse, stringify } = JSON
  const uses: string[] = []
  JSON.parse = (text: string, ...rest: []): unknown => {
    if (!isHousekeeping(String(text))) uses.push(`parse ${String(text).slice(0, 100)}`)
    return parse(text, ...rest)
  }
  JSON.stringify = ((value: unknown, ...rest: []): string => {
    if (typeof value === 'object' && value !== null && !isHousekeeping(stringify(value)))
      uses.push(`stringify ${stringify(value).slice(0, 100)}`)
    return stringify(value, ...rest)
  }) as typeof JSON.stringify
  try {
    await work()
  } finally {
    JSON.parse = parse
    JSON.stringify = stringify
  }
  return uses
}

t.test('the front end serves objects without parsing or making JSON', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'keelson-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const flags = parseFlags(['--secure-port=0', '--insecure-http', `--data-dir=${path.join(folder, 'data')}`], FLAGS)
  const completed = complete(flags.values)
  if ('errors' in completed) throw new Error(completed.errors.join('\n'))
  // In this thread, so that what the front end calls can be seen.
  const server = await compose({
    config: completed.config,
    logger: pino({ level: 'silent' }),
    onFatal: (error) => t.fail(error.message),
  })
  t.teardown(() => server.close())
  const agent = new Agent({ keepAlive: true, maxSockets: 8 })
  t.teardown(() => agent.destroy())
  const read = (target: string): Promise<{ status: number; text: string }> =>
    new Promise((resolve, reject) => {
      get(`${server.url}${target}`, { agent }, (response) => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', (chunk: string) => {
          text += chunk
        })
        response.on('end', () => resolve({ status: response.statusCode!, text }))
        response.on('error', reject)
      }).on('error', reject)
    })
  const write = async (name: string): Promise<void> => {
    const body = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"${name}","labels":{"n":"${name}"}},"data":{"k":"v"}}`
    const answer = await fetch(`${server.url}${CONFIGMAPS}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
    t.equal(answer.status, 201)
    await answer.text()
  }
  for (let i = 0; i < OBJECTS; i++) await write(`cm-${i}`)

  await t.test('the measure itself works', async (t) => {
    const uses = await usesOfJson(async () => {
      JSON.parse(JSON.stringify({ a: 1 }))
    })
    t.equal(uses.length, 2)
  })

  await t.test('GET', async (t) => {
    const uses = await usesOfJson(async () => {
      for (let i = 0; i < GETS; i++) {
        const { status, text } = await read(`${CONFIGMAPS}/cm-${i % OBJECTS}${i % 2 === 0 ? '' : '?resourceVersion=0'}`)
        if (status !== 200 || !text.includes(`"name":"cm-${i % OBJECTS}"`)) t.fail(text)
      }
    })
    t.same(uses, [])
  })

  await t.test('LIST, whole and with selectors', async (t) => {
    const queries = ['', '?resourceVersion=0', '?labelSelector=n+in+(cm-1,cm-2)', '?fieldSelector=metadata.name%3Dcm-1']
    const uses = await usesOfJson(async () => {
      for (let i = 0; i < LISTS; i++) {
        const { status, text } = await read(`${CONFIGMAPS}${queries[i % queries.length]}`)
        if (status !== 200 || !text.includes('"name":"cm-1"')) t.fail(text)
      }
    })
    t.same(uses, [])
  })

  await t.test('watch events', async (t) => {
    const target = `${CONFIGMAPS}?watch=true&resourceVersion=0`
    const watchers = Array.from({ length: WATCHERS }, () => new WatchClient(server.url, target))
    t.teardown(() => {
      for (const watcher of watchers) watcher.close()
    })
    const uses = await usesOfJson(async () => {
      await until(() => watchers.every((watcher) => watcher.eventCount === OBJECTS), {
        what: 'every watcher to see every object',
      })
      for (let i = 0; i < OBJECTS; i++) await write(`more-${i}`)
      await until(() => watchers.every((watcher) => watcher.eventCount === 2 * OBJECTS), {
        what: 'every watcher to see every change',
      })
    })
    t.same(uses, [])
  })
})
