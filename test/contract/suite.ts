import t, { Test } from 'tap'
import { type Harness, type Scope, Subject } from './subject.js'

export interface Behaviour {
  readonly title: string
  readonly scope: Scope
  run(t: Test, subject: Subject): Promise<void>
}

export function behaviour(title: string, run: Behaviour['run'], scope: Scope = 'namespaces'): Behaviour {
  return { title, scope, run }
}

/** Runs every behaviour on its own storage of the harness, but for those that the harness names as meaningless there. */
export function runSuite(harness: Harness, behaviours: readonly Behaviour[]): void {
  const titles = new Set(behaviours.map(({ title }) => title))
  if (titles.size !== behaviours.length) throw new Error('two behaviours have the same title')
  if (harness.skip) {
    t.test(harness.name, { skip: harness.skip }, () => undefined)
    return
  }
  t.teardown(() => harness.close())
  const without = new Map(Object.entries(harness.without ?? {}))
  const meant = behaviours.filter(({ title }) => !without.has(title))
  t.comment(`${harness.name}: ${meant.length} behaviours of ${behaviours.length}`)
  t.test(`${harness.name}: every behaviour runs or is named as one that has no meaning here`, async (t) => {
    t.same(
      [...without.keys()].filter((title) => !titles.has(title)),
      [],
      'named and unknown',
    )
    t.same(
      Object.keys(harness.failing ?? {}).filter((title) => !titles.has(title) || without.has(title)),
      [],
      'failing and unknown',
    )
    t.equal(meant.length + without.size, behaviours.length)
  })
  for (const { title, scope, run } of meant) {
    t.test(`${harness.name}: ${title}`, async (t) => {
      const subject = new Subject(harness, await harness.open(scope))
      t.teardown(() => subject.close())
      if (Object.hasOwn(harness.failing ?? {}, title))
        t.notOk(await passes(run, subject), 'it passes: take it out of the list')
      else await run(t, subject)
    })
  }
}

/** Whether a behaviour holds, told to nobody else. */
async function passes(run: Behaviour['run'], subject: Subject): Promise<boolean> {
  const alone = new Test({ name: 'a behaviour that is known to fail' })
  alone.resume()
  try {
    await run(alone as unknown as Test, subject)
    alone.end()
    return alone.passing()
  } catch {
    return false
  }
}
