/** The durable commits of the embedded engine, by the server's own count: how many, how long, how many writes in each. */
export interface Commits {
  readonly commits: number
  readonly seconds: number
  readonly writes: number
}

export function commitsOf(metrics: string): Commits {
  const value = (name: string): number =>
    Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'm').exec(metrics)?.[1] ?? 0)
  return {
    commits: value('keelson_commit_duration_seconds_count'),
    seconds: value('keelson_commit_duration_seconds_sum'),
    writes: value('keelson_commit_writes_total'),
  }
}

/** The syncs of an etcd member's log; the writes in them are not counted there. */
export function commitsOfEtcd(metrics: string): Omit<Commits, 'writes'> {
  const value = (name: string): number => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(metrics)?.[1] ?? 0)
  const name = 'etcd_disk_wal_fsync_duration_seconds'
  return { commits: value(`${name}_count`), seconds: value(`${name}_sum`) }
}

/** What was committed between two looks at the metrics, in a line; '' on a server that commits nothing itself. */
export function describeCommits(before: Commits, after: Commits, elapsedSeconds: number): string {
  const commits = after.commits - before.commits
  if (commits === 0) return ''
  const writes = (after.writes - before.writes) / commits
  const milliseconds = ((after.seconds - before.seconds) * 1000) / commits
  return `${writes.toFixed(1)} writes a sync, ${Math.round(commits / elapsedSeconds)} syncs/s, ${milliseconds.toFixed(2)} ms each`
}
