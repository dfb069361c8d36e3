import t from 'tap'
import { copyBytes } from '#keelson/cacher/memory/shared-copier.js'

t.test('bytes arrive as they are, wherever they lie and however many', async (t) => {
  const shared = new Uint8Array(new SharedArrayBuffer(8192))
  for (let i = 0; i < shared.length; i++) shared[i] = (i * 31) % 251
  for (const length of [0, 1, 63, 64, 65, 1000, 4096, 100]) {
    for (let offset = 0; offset < 9; offset++) {
      for (const source of [
        shared.subarray(offset, offset + length),
        Buffer.from(shared).subarray(offset, offset + length),
      ]) {
        const target = Buffer.alloc(5000, 0xff)
        copyBytes(source, target, offset + 3)
        const expected = Buffer.alloc(5000, 0xff)
        expected.set(source, offset + 3)
        t.ok(target.equals(expected), `${length} bytes at ${offset}`)
      }
    }
  }
})
