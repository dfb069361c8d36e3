/**
 * Replays the recorded answers against a real server and holds every family of suites to what it has reached
 * (test/recordings/reached.json). KEELSON_REACHED=write writes down what this run reached.
 * KEELSON_SUITES=PATTERN plays some suites only and shows every miss.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Test } from 'tap'
import { KeelsonProcess } from '../support/keelson-process.js'
import { count, type Grade, gradeAnswer, noScore, type Score } from '../support/recordings/grade.js'
import { RecordingPlayer } from '../support/recordings/player.js'
import { RECORDINGS, recordedSuite, recordedSuiteNames } from '../support/recordings/recording.js'

const REACHED = path.join(RECORDINGS, 'reached.json')
type Reached = Record<string, Score | null>

/** vary-core.v1.pods is of the family vary; what has a family of its own name is one suite. */
const familyOf = (suite: string): string =>
  /^(life|vary|edit|crd|hooks|policies|conversion)\b/.exec(suite)?.[1] ?? suite

/** Suites that touch nothing but what they create under names of their own may be played side by side. */
const APART = /^(vary|edit)-/
const LANES = 4

/** The flags of the server that was recorded; its users are in a file of tokens. */
function flags(folder: string): string[] {
  const tokens = path.join(folder, 'tokens.csv')
  writeFileSync(tokens, 'admin,admin,admin,"system:masters"\nalice,alice,alice-uid,"dev"\n')
  return [
    '--authorization-mode=RBAC',
    '--disable-admission-plugins=ServiceAccount',
    '--service-cluster-ip-range=10.96.0.0/16',
    '--allow-privileged=true',
    `--token-auth-file=${tokens}`,
  ]
}

export async function replayRecordings(t: Test, folder: string, storage: readonly string[]): Promise<void> {
  const reached = JSON.parse(readFileSync(REACHED, 'utf8')) as Reached
  const only = process.env['KEELSON_SUITES']
  const server = await KeelsonProcess.start([...flags(folder), ...storage], path.join(folder, 'server'), { tls: true })
  t.teardown(() => server.close())
  const player = new RecordingPlayer({ url: server.url, token: 'admin' })
  t.teardown(() => player.close())
  // Families that nothing is expected of yet are kept for the day when it is.
  const names = recordedSuiteNames(new RegExp(only ?? '')).filter((name) => reached[familyOf(name)] !== null)
  const results = new Results()
  const alone = names.filter((name) => !APART.test(name))
  for (const name of alone) await playSuite(player, name, results)
  const apart = names.filter((name) => APART.test(name))
  const lane = async (): Promise<void> => {
    for (let name = apart.shift(); name !== undefined; name = apart.shift()) await playSuite(player, name, results)
  }
  await Promise.all(Array.from({ length: LANES }, lane))
  const { scores, misses } = results
  if (process.env['KEELSON_REACHED'] === 'write')
    writeFileSync(REACHED, `${JSON.stringify({ ...reached, ...scores }, null, 2)}\n`)
  for (const [family, score] of Object.entries(scores)) hold(t, family, score, reached[family], misses[family]!)
}

/** What families have reached in this run, and where they missed. */
class Results {
  readonly scores: Record<string, Score> = {}
  readonly misses: Record<string, string[]> = {}

  add(suite: string, id: string, grade: Grade): void {
    const family = familyOf(suite)
    this.scores[family] ??= noScore()
    this.misses[family] ??= []
    count(this.scores[family], grade)
    if (grade.miss !== undefined) this.misses[family].push(`${suite} ${id}: ${grade.miss}`)
  }
}

async function playSuite(player: RecordingPlayer, name: string, results: Results): Promise<void> {
  const suite = recordedSuite(name)
  const answers = await player.play(suite)
  for (const { id = '', want } of suite.steps)
    if (want !== undefined) results.add(name, id, gradeAnswer(want, answers.get(id)))
}

/** No fewer answers are right than were before, at any depth. */
function hold(t: Test, family: string, score: Score, least: Score | null | undefined, misses: readonly string[]): void {
  if (process.env['KEELSON_SUITES'] !== undefined) {
    t.comment(`${family}: ${JSON.stringify(score)}`)
    for (const miss of misses) t.comment(miss)
    return
  }
  t.equal(score.answers, least?.answers, `${family}: every recorded answer was asked for`)
  for (const depth of ['status', 'reason', 'body'] as const) {
    const [now, before] = [score[depth], least?.[depth] ?? score.answers]
    t.ok(now >= before, `${family}: ${depth} of ${now} answers is right, ${before} were before`, { misses })
    if (now > before)
      t.comment(`${family}: ${depth} of ${now - before} more is right: KEELSON_REACHED=write keeps it so`)
  }
}
