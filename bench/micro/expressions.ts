/**
 * Question: what does a rule cost? Workload: a comparison, a startsWith and an `all` over ten items, typed by a schema, one thread;
 * microseconds of CPU, so that a busy machine does not count. The same written by hand stands beside for scale.
 */
import { baseEnvironment } from '#keelson/api/cel/environment.js'
import { compile } from '#keelson/api/cel/program.js'
import { INT, listOf, objectOf, STRING } from '#keelson/api/cel/types.js'
import { cpuTime } from './cpu-time.js'

const SOURCE = "self.replicas > 2 && self.name.startsWith('web-') && self.items.all(i, i.port > 0)"
const SELF = objectOf('self', {
  replicas: INT,
  name: STRING,
  items: listOf(objectOf('item', { port: INT, name: STRING }), { maxElements: 10 }),
})

/** A call of the bench's clock is one evaluation; so short a one is repeated, so that the clock does not count. */
const REPEATED = 100

const self = {
  replicas: 3,
  name: 'web-1',
  items: Array.from({ length: 10 }, (_, i) => ({ port: i + 1, name: `item-${i}` })),
}

const byHand = (object: typeof self): boolean =>
  object.replicas > 2 && object.name.startsWith('web-') && object.items.every((item) => item.port > 0)

const repeated = (work: () => unknown): number =>
  cpuTime(() => {
    for (let i = 0; i < REPEATED; i++) work()
  }) / REPEATED

export async function run(): Promise<{ name: string; figure: string; note?: string }[]> {
  const environment = baseEnvironment('stored').extend({ variables: { self: SELF } })
  const { program } = compile(SOURCE, environment)
  const activation = { self }
  const budget = { remaining: Number.MAX_SAFE_INTEGER }
  return [
    { name: 'evaluate a rule', figure: `${repeated(() => program?.evaluate(activation, budget)).toFixed(2)} µs` },
    { name: 'the same by hand', figure: `${repeated(() => byHand(self)).toFixed(2)} µs` },
    { name: 'compile it', figure: `${cpuTime(() => compile(SOURCE, environment)).toFixed(0)} µs` },
  ]
}
