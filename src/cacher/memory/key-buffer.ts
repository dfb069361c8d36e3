/** Thread: any. A buffer for the bytes of the key that is being searched for, reused from search to search. */
export class KeyBuffer {
  bytes = Buffer.alloc(512)
  length = 0

  set(key: string): this {
    const length = key.length
    if (length * 3 > this.bytes.length) this.bytes = Buffer.alloc(length * 4)
    const bytes = this.bytes
    for (let i = 0; i < length; i++) {
      const code = key.charCodeAt(i)
      if (code >= 0x80) {
        this.length = bytes.write(key, 'utf8')
        return this
      }
      bytes[i] = code
    }
    this.length = length
    return this
  }
}
