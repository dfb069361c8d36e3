import t from 'tap'
import {
  badRequest,
  isPatchError,
  PatchError,
  patchStatusError,
  unprocessable,
} from '#keelson/workers/endpoints/patch/patch-error.js'

t.test('each class has its status', async (t) => {
  t.match(patchStatusError(badRequest('b')).status, { code: 400, reason: 'BadRequest', message: 'b' })
  t.match(patchStatusError(new PatchError('PatchTooLarge', 'l')).status, { code: 413, message: 'l' })
  const unfit = patchStatusError(unprocessable('the cause')).status
  t.match(unfit, { code: 422, reason: 'Invalid' })
  t.notMatch(unfit.message, /the cause/, 'as in Kubernetes the cause is not told')
  const internal = patchStatusError(new PatchError('PatchInternal', 'i')).status
  t.match(internal, { code: 500, message: 'i' })
  t.notOk(internal.reason)
})

t.test('other errors are none of these', async (t) => {
  t.equal(isPatchError(badRequest('x')), true)
  t.equal(isPatchError(new Error('x')), false)
})
