/** Thread: any. Which queues a flow may wait in: a hand dealt from a deck, always the same for the same flow. */
import { createHash } from 'node:crypto'

/** 64 bits from the names of a schema and of what tells its flows apart. */
function flowHash(schema: string, distinguisher: string): bigint {
  return createHash('sha256').update(schema).update('\0').update(distinguisher).digest().readBigUInt64LE(0)
}

/**
 * `handSize` different numbers below `deckSize`: the hash is read as digits in the mixed base deckSize, deckSize - 1, …;
 * digit i names the i-th card among those that are still in the deck.
 */
export function dealHand(schema: string, distinguisher: string, deckSize: number, handSize: number): number[] {
  let rest = flowHash(schema, distinguisher)
  const taken: number[] = []
  const hand: number[] = []
  for (let i = 0; i < handSize; i++) {
    const left = BigInt(deckSize - i)
    let card = Number(rest % left)
    rest /= left
    // `taken` is sorted: each card below or at the place moves it up by one.
    let at = 0
    while (at < taken.length && taken[at]! <= card) {
      card++
      at++
    }
    taken.splice(at, 0, card)
    hand.push(card)
  }
  return hand
}
