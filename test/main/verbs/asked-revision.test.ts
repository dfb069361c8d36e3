import t from 'tap'
import { revisionProblem } from '#keelson/main/verbs/asked-revision.js'

t.test('a resourceVersion is a 64-bit number', async (t) => {
  for (const text of ['0', '1', '9007199254740993', '18446744073709551615', '00000000000000000000000000000000007'])
    t.equal(revisionProblem(text), undefined, text)
  for (const text of ['18446744073709551616', '99999999999999999999999'])
    t.equal(
      revisionProblem(text),
      `resourceVersion: Invalid value: "${text}": strconv.ParseUint: parsing "${text}": value out of range`,
    )
  for (const text of ['abc', '-1', '1e3', '0x10', ' 1'])
    t.equal(
      revisionProblem(text),
      `resourceVersion: Invalid value: "${text}": strconv.ParseUint: parsing "${text}": invalid syntax`,
    )
})
