import t, { type Test } from 'tap'
import { type Harness, Subject } from './subject.js'

export interface Behaviour {
  readonly title: string
  run(t: Test, subject: Subject): Promise<void>
}

export function behaviour(title: string, run: Behaviour['run']): Behaviour {
  return { title, run }
}

/** Runs every behaviour on its own storage of the harness. */
export function runSuite(harness: Harness, behaviours: readonly Behaviour[]): void {
  const titles = new Set(behaviours.map(({ title }) => title))
  if (titles.size !== behaviours.length) throw new Error('two behaviours have the same title')
  if (harness.skip) {
    t.test(harness.name, { skip: harness.skip }, () => undefined)
    return
  }
  t.teardown(() => harness.close())
  t.comment(`${harness.name}: ${behaviours.length} behaviours`)
  for (const { title, run } of behaviours) {
    t.test(`${harness.name}: ${title}`, async (t) => {
      const subject = new Subject(harness, await harness.open())
      t.teardown(() => subject.close())
      await run(t, subject)
    })
  }
}
