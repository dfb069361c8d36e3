/** One call that wrote, as fault-library.c notes it. */
export interface TracedCall {
  /** A write, a write that was durable when it returned, a sync, a change of names or sizes. */
  readonly op: 'w' | 'd' | 's' | 'r'
  /** The file's, without its folder. */
  readonly name: string
  readonly offset: number
  readonly bytes: Buffer
}

export function readTrace(trace: Buffer): TracedCall[] {
  const calls: TracedCall[] = []
  for (let at = 0; at < trace.length; ) {
    const nameStart = at + 14
    const nameEnd = nameStart + trace[at + 1]!
    const end = nameEnd + trace.readUInt32LE(at + 10)
    calls.push({
      op: String.fromCharCode(trace[at]!) as TracedCall['op'],
      name: trace.toString('utf8', nameStart, nameEnd),
      offset: Number(trace.readBigUInt64LE(at + 2)),
      bytes: trace.subarray(nameEnd, end),
    })
    at = end
  }
  return calls
}
