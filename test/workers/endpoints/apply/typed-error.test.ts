import t from 'tap'
import { TypedError } from '#keelson/workers/endpoints/apply/typed-error.js'

t.test('one problem is told in its line, several below each other', async (t) => {
  t.equal(new TypedError([{ path: '.a', message: 'wrong' }]).message, '.a: wrong')
  t.equal(new TypedError([{ path: '', message: 'wrong' }]).message, 'wrong')
  const problems = [
    { path: '.a', message: 'wrong' },
    { path: '.b', message: 'wrong too' },
  ]
  t.equal(new TypedError(problems).message, 'errors:\n  .a: wrong\n  .b: wrong too')
  t.equal(new TypedError(problems).problems, problems)
})
