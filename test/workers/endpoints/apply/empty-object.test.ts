import t from 'tap'
import type { FieldPresence } from '#keelson/api/schema.js'
import { emptyObject } from '#keelson/workers/endpoints/apply/empty-object.js'
import { atomicList, map, scalar, struct } from '../patch/schemas.js'

const ALWAYS: FieldPresence = { pointer: false, omitEmpty: false, omitZero: false }
const shown = (presence: Partial<FieldPresence>, type = scalar()) =>
  emptyObject(struct('T', { f: { type, presence: { ...ALWAYS, ...presence } } }))['f']

t.test('what is always written is there, as its zero', async (t) => {
  const zeros = [
    ['string', ''],
    ['boolean', false],
    ['int32', 0],
    ['int64', 0],
    ['double', 0],
    ['int-or-string', 0],
    ['quantity', '0'],
    ['duration', '0s'],
    ['time', null],
    ['micro-time', null],
  ] as const
  for (const [kind, zero] of zeros) t.strictSame(shown({}, scalar(kind)), zero, kind)
  t.equal(shown({}, map(scalar())), null)
  t.equal(shown({}, atomicList(scalar())), null)
})

t.test('what is left out when it is nothing is not', async (t) => {
  t.equal(shown({ omitEmpty: true }), undefined)
  t.equal(shown({ omitZero: true }, scalar('time')), undefined)
  t.equal(shown({ pointer: true }), null)
  t.equal(shown({ pointer: true, omitEmpty: true }), undefined)
})

t.test('a struct is never empty, and is filled itself; custom fields are there when they are set', async (t) => {
  const inner = struct('I', { n: { type: scalar('int32'), presence: ALWAYS }, custom: scalar() })
  t.strictSame(shown({ omitEmpty: true }, inner), { n: 0 })
  t.equal(shown({ omitZero: true }, inner), undefined)
})
