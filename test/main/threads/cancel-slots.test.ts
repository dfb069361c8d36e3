import t from 'tap'
import { RemoteCaller } from '#keelson/main/threads/caller.js'
import { CancelSlots } from '#keelson/main/threads/cancel-slots.js'
import { NO_SLOT } from '#keelson/protocol/main-pool.js'

function task(slots: CancelSlots, caller: RemoteCaller | undefined) {
  let end!: () => void
  let slot = NO_SLOT
  const done = slots.lend(caller, (given) => {
    slot = given
    return new Promise<void>((resolve) => {
      end = resolve
    })
  })
  return {
    slot,
    finish: () => {
      end()
      return done
    },
  }
}

t.test('a caller that goes sets the flag of its task and of no other', async (t) => {
  const slots = new CancelSlots(2)
  const flags = new Int32Array(slots.memory)
  const callers = [new RemoteCaller(), new RemoteCaller()]
  const [first, second] = callers.map((caller) => task(slots, caller))
  t.not(first!.slot, second!.slot)
  callers[0]!.leave()
  t.equal(flags[first!.slot], 1)
  t.equal(flags[second!.slot], 0)
})

t.test('a slot that is lent again is clear, and a caller of before does not touch it', async (t) => {
  const slots = new CancelSlots(1)
  const flags = new Int32Array(slots.memory)
  const [before, quick, after] = [new RemoteCaller(), new RemoteCaller(), new RemoteCaller()]
  const given = task(slots, before)
  before.leave()
  await given.finish()
  const answered = task(slots, quick)
  t.equal(flags[answered.slot], 0)
  await answered.finish()
  const next = task(slots, after)
  quick.leave()
  t.equal(next.slot, answered.slot)
  t.equal(flags[next.slot], 0)
})

t.test('a task for nobody takes no slot', async (t) => {
  const slots = new CancelSlots(1)
  t.equal(task(slots, undefined).slot, NO_SLOT)
  t.equal(task(slots, new RemoteCaller()).slot, 0)
})
