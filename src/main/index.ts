#!/usr/bin/env node
/** Thread: main. The process's entry: alone reads the arguments. Nothing of the server is loaded before Node is known to be able to run it. */
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { moduleUrl } from '../lib/module-url.js'
import { setCollector } from './collector-settings.js'
import { keepCompiledCode } from './compiled-code.js'
import { nodeProblem } from './start-checks.js'

const problem = nodeProblem(process.versions.node)
if (problem === undefined) {
  setCollector(availableParallelism())
  keepCompiledCode(fileURLToPath(moduleUrl('.')), process.env)
  const { main } = await import('./command.js')
  await main(process.argv.slice(2))
} else {
  console.error(`keelson: ${problem}`)
  process.exitCode = 1
}
