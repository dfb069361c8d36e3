import t from 'tap'
import { ownMember } from '#keelson/lib/own-member.js'

t.test('an object has only what was put into it', async (t) => {
  const members = JSON.parse('{"a":1,"__proto__":2}') as Record<string, number>
  t.equal(ownMember(members, 'a'), 1)
  t.equal(ownMember(members, '__proto__'), 2)
  for (const name of ['constructor', 'toString', 'b']) t.equal(ownMember(members, name), undefined, name)
  t.equal(ownMember({}, '__proto__'), undefined)
  t.equal(ownMember(undefined, 'a'), undefined)
})
