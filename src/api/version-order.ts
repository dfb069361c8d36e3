/** Thread: any. The order of versions by what their names promise: v10, v2, v1, v2beta1, v1alpha3, then other names by letter. */

const NAME = /^v([1-9][0-9]*)(?:(alpha|beta)([1-9][0-9]*))?$/
const STAGES: readonly (string | undefined)[] = ['alpha', 'beta', undefined]

interface VersionParts {
  readonly stage: number
  readonly major: bigint
  readonly minor: bigint
}

function partsOf(name: string): VersionParts | undefined {
  const found = NAME.exec(name)
  if (found === null) return undefined
  return { stage: STAGES.indexOf(found[2]), major: BigInt(found[1]!), minor: BigInt(found[3] ?? 0) }
}

/** Negative when `a` comes first. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [partsOf(a), partsOf(b)]
  if (left === undefined || right === undefined) {
    if (left !== undefined) return -1
    if (right !== undefined) return 1
    return a < b ? -1 : a > b ? 1 : 0
  }
  if (left.stage !== right.stage) return right.stage - left.stage
  if (left.major !== right.major) return left.major > right.major ? -1 : 1
  return left.minor === right.minor ? 0 : left.minor > right.minor ? -1 : 1
}
