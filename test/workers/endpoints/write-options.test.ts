import t from 'tap'
import { isStatusError } from '#keelson/api/status.js'
import { deleteOptionsFromQuery, parseWriteOptions } from '#keelson/workers/endpoints/write-options.js'

const parse = (query: string, apply = false) => parseWriteOptions(new URLSearchParams(query), 'PatchOptions', apply)

function causesOf(query: string, apply = false): string[] {
  try {
    parse(query, apply)
  } catch (error) {
    if (!isStatusError(error, 'Invalid')) throw error
    return (error.status.details?.causes ?? []).map(({ field, reason }) => `${field} ${reason}`)
  }
  return []
}

t.test('what is not said is the usual', async (t) => {
  t.same(parse(''), { dryRun: false, fieldManager: '', fieldValidation: 'Warn', force: false })
})

t.test('what is said is taken', async (t) => {
  t.same(parse('dryRun=All&fieldManager=me&fieldValidation=Strict&force=true', true), {
    dryRun: true,
    fieldManager: 'me',
    fieldValidation: 'Strict',
    force: true,
  })
  t.equal(parse('dryRun=All&dryRun=All').dryRun, true)
})

t.test('a dry run is of everything or of nothing', async (t) => {
  t.same(causesOf('dryRun=Some'), ['dryRun FieldValueNotSupported'])
  t.same(causesOf('dryRun=All&dryRun=Some'), ['dryRun FieldValueNotSupported'])
  t.same(causesOf('dryRun='), ['dryRun FieldValueNotSupported'], 'empty is not "no"')
})

t.test('an apply names its manager; nobody else may force', async (t) => {
  t.same(causesOf('', true), ['fieldManager FieldValueRequired'])
  t.same(causesOf('fieldManager=m&force=false'), ['force FieldValueForbidden'], 'not even by saying no')
  t.same(causesOf('fieldManager=m&force=false', true), [])
})

t.test('a manager has at most 128 bytes, all of them printable', async (t) => {
  const of = (name: string): string[] => causesOf(`fieldManager=${encodeURIComponent(name)}`)
  t.same(of('é'.repeat(64)), [])
  t.same(of('é'.repeat(65)), ['fieldManager FieldValueTooLong'])
  t.same(of('a\tb\u0000'), ['fieldManager FieldValueInvalid', 'fieldManager FieldValueInvalid'], 'each is named')
  t.same(of('名前 😀'), [])
})

t.test('everything that is wrong is told at once', async (t) => {
  t.same(causesOf('dryRun=x&fieldValidation=Sometimes&force=true'), [
    'dryRun FieldValueNotSupported',
    'force FieldValueForbidden',
    'fieldValidation FieldValueNotSupported',
  ])
})

t.test('the options of a deletion come from the query when there is no body', async (t) => {
  const of = (query: string) => deleteOptionsFromQuery(new URLSearchParams(query))
  t.same(of(''), {})
  t.same(
    of(
      'gracePeriodSeconds=0&orphanDependents=false&propagationPolicy=Orphan&dryRun=All&ignoreStoreReadErrorWithClusterBreakingPotential=1',
    ),
    {
      gracePeriodSeconds: 0,
      orphanDependents: false,
      propagationPolicy: 'Orphan',
      dryRun: ['All'],
      ignoreStoreReadErrorWithClusterBreakingPotential: true,
    },
  )
})
