// Run by `npm version` before it makes the commit and the tag; see docs/releasing.md.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

const git = (...args) => execFileSync('git', args, { encoding: 'utf8' }).trim()
const problems = []
if (git('status', '--porcelain') !== '') problems.push('the work tree is not clean')
const branch = git('rev-parse', '--abbrev-ref', 'HEAD')
if (branch !== 'main') problems.push(`this is branch ${branch}, not main`)
const changelog = readFileSync('CHANGELOG.md', 'utf8')
const unreleased = /^## Unreleased\n([\s\S]*?)(?=^## )/m.exec(changelog)?.[1] ?? ''
if (!unreleased.includes('\n- ')) problems.push('CHANGELOG.md says nothing under Unreleased')
const { repository, bugs } = JSON.parse(readFileSync('package.json', 'utf8'))
for (const address of [repository?.url ?? '', bugs?.url ?? ''])
  if (address === '' || address.includes('.example'))
    problems.push(`package.json has a placeholder address: ${address}`)
for (const problem of problems) console.error(`release: ${problem}`)
process.exitCode = problems.length > 0 ? 1 : 0
