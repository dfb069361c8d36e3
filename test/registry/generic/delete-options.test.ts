import t from 'tap'
import type { DeleteOptions } from '#keelson/api/generated/kinds/meta.v1.js'
import { isStatusError } from '#keelson/api/status.js'
import { checkDeleteOptions, dryRunErrors } from '#keelson/registry/generic/delete-options.js'

function causes(options: DeleteOptions): string[] {
  try {
    checkDeleteOptions(options)
  } catch (error) {
    if (!isStatusError(error, 'Invalid')) throw error
    return (error.status.details?.causes ?? []).map(({ field, reason }) => `${field} ${reason}`)
  }
  return []
}

t.test('what may be said', async (t) => {
  t.same(causes({}), [])
  for (const propagationPolicy of ['Orphan', 'Background', 'Foreground']) t.same(causes({ propagationPolicy }), [])
  t.same(causes({ orphanDependents: true, dryRun: ['All', 'All'], gracePeriodSeconds: -5 }), [])
})

t.test('what may not, all of it at once', async (t) => {
  t.same(causes({ propagationPolicy: 'orphan' }), ['propagationPolicy FieldValueNotSupported'])
  t.same(causes({ propagationPolicy: 'Orphan', orphanDependents: false }), ['propagationPolicy FieldValueInvalid'])
  t.same(causes({ propagationPolicy: 'x', orphanDependents: false, dryRun: ['x'] }), [
    'dryRun FieldValueNotSupported',
    'propagationPolicy FieldValueInvalid',
    'propagationPolicy FieldValueNotSupported',
  ])
})

t.test('a dry run is of everything', async (t) => {
  t.same(dryRunErrors([]), [])
  t.same(dryRunErrors(['All']), [])
  t.equal(dryRunErrors(['All', '']).length, 1)
})
