import { rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { ConfigurationErrors } from '#keelson/auth/configuration-object.js'
import { type Logger, nullLogger } from '#keelson/lib/logger.js'
import { digestOf } from '#keelson/main/flags/access-config.js'
import { ConfigurationWatch } from '#keelson/main/flags/configuration-watch.js'
import { FakeClock } from '../../support/fake-clock.js'
import { temporaryFolder } from '../../support/temporary-folder.js'
import { until } from '../../support/until.js'

t.test('changes are taken, what is wrong is kept out and told once', async (t) => {
  const file = path.join(temporaryFolder(t, 'watch'), 'access.yaml')
  writeFileSync(file, 'first')
  const clock = new FakeClock()
  const events: string[] = []
  const logger: Logger = {
    ...nullLogger,
    info: (_fields: object, message: string) => void events.push(message),
    error: (fields: object, message: string) => void events.push(`${message}: ${JSON.stringify(fields)}`),
  }
  const watch = new ConfigurationWatch({
    flag: 'access-config',
    file,
    digest: digestOf('first'),
    parse: (text) => {
      if (text.startsWith('bad')) throw new ConfigurationErrors(['jwt[0].issuer.url: Required value'])
      return text
    },
    take: async (content) => void events.push(`taken ${content}`),
    onReload: (status) => void events.push(status),
    clock,
    logger,
  })
  watch.start()
  t.teardown(() => watch.close())
  /** Time goes on until the events are there: reading takes turns of the real event loop. */
  const see = async (expected: readonly (string | RegExp)[]): Promise<void> => {
    await until(
      async () => {
        await clock.advance(1000)
        return events.length >= expected.length
      },
      { what: `${expected.length} events` },
    )
    for (let i = 0; i < 3; i++) await clock.advance(1000)
    t.match(events.splice(0), expected)
  }
  writeFileSync(file, 'second')
  await see(['taken second', 'the file of --access-config has changed and is in force', 'success'])
  writeFileSync(file, 'bad 1')
  await see([/cannot be used; the configuration before it stays: .*jwt\[0\].issuer.url: Required value/, 'failure'])
  writeFileSync(file, 'third')
  await see(['taken third', /in force/, 'success'])
  rmSync(file)
  await see([/ENOENT/, 'failure'])
  writeFileSync(file, 'third')
  for (let i = 0; i < 3; i++) await clock.advance(1000)
  t.same(events, [], 'what is in force already is no change')
})
