import t from 'tap'
import { humanDuration } from '#keelson/api/human-duration.js'

const S = 1000
const M = 60 * S
const H = 60 * M
const D = 24 * H

t.test('ages are shorter the older they are', async (t) => {
  for (const [ms, text] of [
    [0, '0s'],
    [999, '0s'],
    [-S, '0s'],
    [-2 * S, '<invalid>'],
    [119 * S, '119s'],
    [2 * M, '2m'],
    [3 * M + 20 * S, '3m20s'],
    [10 * M + 5 * S, '10m'],
    [179 * M, '179m'],
    [3 * H, '3h'],
    [7 * H + 59 * M, '7h59m'],
    [8 * H + 59 * M, '8h'],
    [2 * D, '2d'],
    [2 * D + 3 * H, '2d3h'],
    [8 * D + 3 * H, '8d'],
    [729 * D, '729d'],
    [2 * 365 * D, '2y'],
    [2 * 365 * D + D, '2y1d'],
    [9 * 365 * D + D, '9y'],
  ] as const)
    t.equal(humanDuration(ms), text, String(ms))
})
