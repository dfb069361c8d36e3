#!/usr/bin/env node
/** Thread: main. The process's entry: alone reads the arguments. Nothing else is loaded before Node is known to be able to run it. */
import { nodeProblem } from './start-checks.js'

const problem = nodeProblem(process.versions.node)
if (problem === undefined) {
  const { main } = await import('./command.js')
  await main(process.argv.slice(2))
} else {
  console.error(`keelson: ${problem}`)
  process.exitCode = 1
}
