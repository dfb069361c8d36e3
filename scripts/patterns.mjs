// Every regular expression of src, and whether a text could make it slow: what users send meets most of them.
// `node scripts/patterns.mjs` is one of the checks; the tests attack the same list (test/patterns.test.ts).
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const root = fileURLToPath(new URL('..', import.meta.url))
/** Of one expression; the automaton of the worst that stands in src takes two seconds. */
const TIMEOUT_MS = 30_000
/** The checker's fuzzer begins with the same numbers each time: a check that fails now and then says nothing. */
const REPEATABLE = { timeout: TIMEOUT_MS, randomSeed: 1, attackTimeout: TIMEOUT_MS, incubationTimeout: TIMEOUT_MS }

/** [{ place, source, flags }]; `source` is undefined where an expression is built from data. */
export function patternsOf(folder = path.join(root, 'src')) {
  const files = readdirSync(folder, { recursive: true }).filter((file) => /\.(?:ts|js)$/.test(file))
  return files.flatMap((file) => patternsIn(file, readFileSync(path.join(folder, file), 'utf8')))
}

export function patternsIn(file, text) {
  const found = []
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
  const visit = (node) => {
    const place = () => `${file}:${source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1}`
    if (node.kind === ts.SyntaxKind.RegularExpressionLiteral) {
      const end = node.text.lastIndexOf('/')
      found.push({ place: place(), source: node.text.slice(1, end), flags: node.text.slice(end + 1) })
    } else if ((ts.isNewExpression(node) || ts.isCallExpression(node)) && node.expression.getText(source) === 'RegExp')
      found.push({ place: place() })
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

/** Why an expression may not stand in src; undefined when it may. */
function problemOf({ source, flags }, checkSync) {
  if (source === undefined) return 'is built at run time: write a literal, or use RE2JS for what users give'
  const { status, complexity, error } = checkSync(source, flags, REPEATABLE)
  if (status === 'safe') return undefined
  return status === 'vulnerable'
    ? `takes ${complexity.summary} time on a text made for it: write it without overlap, as a scanner, or with RE2JS`
    : `could not be judged (${error?.kind ?? 'unknown'}): write it simpler`
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  // The build in plain JavaScript: the others run Java or a binary.
  const { checkSync } = (await import('recheck/lib/browser.js')).default
  const patterns = patternsOf()
  for (const pattern of patterns) {
    const problem = problemOf(pattern, checkSync)
    if (problem === undefined) continue
    console.error(`src/${pattern.place}: /${pattern.source ?? '…'}/${pattern.flags ?? ''} ${problem}`)
    process.exitCode = 1
  }
  console.log(`${patterns.length} expressions`)
}
