/**
 * Thread: any. Huffman-coded strings of HPACK (RFC 7541, appendix B). The code is canonical, so the lengths of the
 * codes are the whole table. Only those of printable ASCII are here: gRPC percent-encodes everything else, and control
 * characters have no place in a header.
 */

/** Characters by the length of their code, those of one length in the order of their codes. */
const BY_LENGTH: Readonly<Record<number, string>> = {
  5: '012aceiost',
  6: ' %-./3456789=A_bdfghlmnpru',
  7: ':BCDEFGHIJKLMNOPQRSTUVWYjkqvwxyz',
  8: '&*,;XZ',
  10: '!"()?',
  11: "'+|",
  12: '#>',
  13: '\0$@[]~',
  14: '^}',
  15: '<`{',
  19: '\\',
}
const LONGEST = 19

/** Characters by `2 ** length + code`, which tells the length of the code and the code. */
const CHARACTERS = charactersByCode()

function charactersByCode(): ReadonlyMap<number, string> {
  const characters = new Map<number, string>()
  let code = 0
  for (let length = 1; length <= LONGEST; length++) {
    for (const character of BY_LENGTH[length] ?? '') characters.set(2 ** length + code++, character)
    code *= 2
  }
  return characters
}

/** Undefined when the bytes hold a character outside the table, or end in the middle of one. */
export function decodeHuffman(bytes: Uint8Array): string | undefined {
  let text = ''
  let prefix = 1
  for (const byte of bytes) {
    for (let bit = 7; bit >= 0; bit--) {
      prefix = prefix * 2 + ((byte >> bit) & 1)
      const character = CHARACTERS.get(prefix)
      if (character !== undefined) {
        text += character
        prefix = 1
      } else if (prefix >= 2 ** (LONGEST + 1)) return undefined
    }
  }
  // The last byte is filled up with ones.
  const isPadding = prefix < 256 && ((prefix + 1) & prefix) === 0
  return isPadding ? text : undefined
}
