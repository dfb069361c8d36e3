import t from 'tap'
import { firstByName } from '#keelson/registry/generic/first-by-name.js'

t.test('the first of each name, whatever it is called', async (t) => {
  const items = [{ name: 'a', n: 1 }, { n: 2 }, { name: 'a', n: 3 }, { name: '__proto__', n: 4 }]
  t.same(
    [...firstByName(items)].map(([name, { n }]) => [name, n]),
    [
      ['a', 1],
      ['', 2],
      ['__proto__', 4],
    ],
  )
  t.equal(firstByName(undefined).size, 0)
  t.equal(firstByName(null).size, 0)
})
