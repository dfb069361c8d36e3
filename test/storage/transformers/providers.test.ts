import { execFileSync, spawnSync } from 'node:child_process'
import { createCipheriv, hkdfSync, randomBytes, webcrypto } from 'node:crypto'
import t from 'tap'
import { AesCbcTransformer } from '#keelson/storage/transformers/aes-cbc.js'
import { AesGcmTransformer } from '#keelson/storage/transformers/aes-gcm.js'
import { encryptCheckTransformer } from '#keelson/storage/transformers/encrypt-check.js'
import { ExtendedNonceGcmTransformer } from '#keelson/storage/transformers/extended-nonce-gcm.js'
import { SecretboxTransformer } from '#keelson/storage/transformers/secretbox.js'

const hex = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'hex'))
const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString()
const KEY = '/registry/secrets/default/a'
const OTHER_KEY = '/registry/secrets/default/b'
const SIZES = [0, 1, 15, 16, 17, 4096]

const gcm = (size: number) => new AesGcmTransformer(randomBytes(size))
const cbc = (size: number) => new AesCbcTransformer(randomBytes(size))
const providers = {
  'aesgcm 16': { transformer: gcm(16), overhead: 28 },
  'aesgcm 24': { transformer: gcm(24), overhead: 28 },
  'aesgcm 32': { transformer: gcm(32), overhead: 28 },
  'aescbc 16': { transformer: cbc(16), overhead: undefined },
  'aescbc 24': { transformer: cbc(24), overhead: undefined },
  'aescbc 32': { transformer: cbc(32), overhead: undefined },
  secretbox: { transformer: new SecretboxTransformer(randomBytes(32)), overhead: 40 },
  'kms seed': { transformer: new ExtendedNonceGcmTransformer(randomBytes(32)), overhead: 60 },
}

for (const [name, { transformer, overhead }] of Object.entries(providers)) {
  t.test(`${name}: what is written reads back, and never looks the same twice`, async (t) => {
    for (const size of SIZES) {
      const plain = Uint8Array.from(randomBytes(size))
      const first = transformer.transformToStorage(plain, KEY)
      const second = transformer.transformToStorage(plain, KEY)
      t.notSame(first, second)
      t.equal(first.length, overhead === undefined ? 16 + size + 16 - (size % 16) : size + overhead)
      t.equal(first.byteLength, first.buffer.byteLength, 'the bytes own their memory')
      const read = transformer.transformFromStorage(first, KEY)
      t.same(Buffer.from(read.data), Buffer.from(plain))
      t.equal(read.stale, false)
    }
  })

  t.test(`${name}: truncated data is refused`, async (t) => {
    const stored = transformer.transformToStorage(randomBytes(100), KEY)
    for (const length of [0, 1, 11, 12, 16, 23, 27, 31, stored.length - 1]) {
      t.throws(() => transformer.transformFromStorage(stored.subarray(0, length), KEY), { name: 'TransformError' })
    }
  })

  if (name.startsWith('aescbc')) continue
  t.test(`${name}: a change of any byte is refused`, async (t) => {
    const stored = transformer.transformToStorage(randomBytes(20), KEY)
    for (let i = 0; i < stored.length; i++) {
      const tampered = Uint8Array.from(stored)
      tampered[i]! ^= 0x10
      t.throws(() => transformer.transformFromStorage(tampered, KEY), { name: 'TransformError' }, `byte ${i}`)
    }
  })

  t.test(
    `${name}: a ciphertext moved to another key ${name === 'secretbox' ? 'still reads' : 'is refused'}`,
    async (t) => {
      const stored = transformer.transformToStorage(Buffer.from('secret'), KEY)
      if (name === 'secretbox') t.equal(text(transformer.transformFromStorage(stored, OTHER_KEY).data), 'secret')
      else t.throws(() => transformer.transformFromStorage(stored, OTHER_KEY), { code: 'authentication' })
    },
  )
}

t.test('AES-GCM and the seeded form read what Kubernetes wrote', async (t) => {
  const recorded = hex('9f27c8fcea8a58c467d8e437dbf2d85955f9b4bd912f4ef967d788a0cb07797dac0a3f0a0845605ca85ac8562b4ae1')
  const read = new AesGcmTransformer(Buffer.from('snorlax_awesomes')).transformFromStorage(recorded, 'bamboo')
  t.equal(text(read.data), 'pandas are the best')

  const seed = hex('5d40323a820ff95561675e3b95e81867c5fdd561d35a88a2d08b08aa9d4fcf5c')
  const seeded = hex(
    '2442759e33945fbad709db577a0f037fd8a709fc76979b8942209debcecb9d57efe3d6ff6a1ef6ee9a5003b9833b3043cec1e47b35175b151107a8d2416b0e296bbf66b5d102fcefdf9a78f293d271',
  )
  t.equal(
    text(new ExtendedNonceGcmTransformer(seed).transformFromStorage(seeded, 'bamboo').data),
    'pandas are the best',
  )
})

t.test('AES-GCM is readable by WebCrypto, with the storage key as additional data', async (t) => {
  const key = randomBytes(32)
  const stored = new AesGcmTransformer(key).transformToStorage(Buffer.from('hello'), KEY)
  const subtleKey = await webcrypto.subtle.importKey('raw', key, 'AES-GCM', false, ['decrypt'])
  const params = { name: 'AES-GCM', iv: Buffer.from(stored.subarray(0, 12)), additionalData: Buffer.from(KEY) }
  const plain = await webcrypto.subtle.decrypt(params, subtleKey, Buffer.from(stored.subarray(12)))
  t.equal(text(new Uint8Array(plain)), 'hello')
})

t.test('the key of a seeded write is HKDF-SHA256, expand only', async (t) => {
  // node's HKDF always extracts first: HMAC with an empty salt. Undo it by starting from what extraction would give.
  const ikm = randomBytes(32)
  const prk = Buffer.from(await hmacSha256(Buffer.alloc(32), ikm))
  const info = randomBytes(32)
  const key = Buffer.from(hkdfSync('sha256', ikm, Buffer.alloc(32), info, 32))
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  cipher.setAAD(Buffer.from(KEY))
  const body = Buffer.concat([cipher.update('derived'), cipher.final(), cipher.getAuthTag()])
  const stored = Buffer.concat([info, nonce, body])
  t.equal(text(new ExtendedNonceGcmTransformer(prk).transformFromStorage(stored, KEY).data), 'derived')
  t.throws(() => new ExtendedNonceGcmTransformer(randomBytes(31)), { code: 'malformed' })
})

async function hmacSha256(key: Uint8Array<ArrayBuffer>, data: Uint8Array<ArrayBuffer>): Promise<ArrayBuffer> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const imported = await webcrypto.subtle.importKey('raw', key, algorithm, false, ['sign'])
  return await webcrypto.subtle.sign('HMAC', imported, data)
}

const noOpenssl = spawnSync('openssl', ['version']).status === 0 ? false : 'no openssl here'
t.test('AES-CBC agrees with the openssl command in both directions', { skip: noOpenssl }, async (t) => {
  const key = randomBytes(32)
  const transformer = new AesCbcTransformer(key)
  const run = (mode: '-e' | '-d', iv: Uint8Array, input: Uint8Array): Buffer => {
    const args = ['enc', mode, '-aes-256-cbc', '-K', key.toString('hex'), '-iv', Buffer.from(iv).toString('hex')]
    return execFileSync('openssl', args, { input })
  }
  const stored = transformer.transformToStorage(Buffer.from('from us'))
  t.equal(run('-d', stored.subarray(0, 16), stored.subarray(16)).toString(), 'from us')
  const iv = randomBytes(16)
  const theirs = Buffer.concat([iv, run('-e', iv, Buffer.from('from openssl'))])
  t.equal(text(transformer.transformFromStorage(theirs).data), 'from openssl')
})

t.test('AES-CBC refuses wrong padding and partial blocks', async (t) => {
  const key = randomBytes(16)
  const iv = randomBytes(16)
  for (const lastByte of [0, 17, 2]) {
    const cipher = createCipheriv('aes-128-cbc', key, iv).setAutoPadding(false)
    const stored = Buffer.concat([iv, cipher.update(Buffer.alloc(16, 1).fill(lastByte, 15)), cipher.final()])
    t.throws(() => new AesCbcTransformer(key).transformFromStorage(stored), { code: 'malformed' })
  }
  t.throws(() => new AesCbcTransformer(key).transformFromStorage(randomBytes(40)), { code: 'malformed' })
})

t.test("secretbox gives NaCl's published answer", async (t) => {
  const key = hex('1b27556473e985d462cd51197a9a46c76009549eac6474f206c4ee0844f68389')
  const nonce = '69696ee955b62b73cd62bda875fc73d68219e0036b7a0b37'
  const message = hex(
    'be075fc53c81f2d5cf141316ebeb0c7b5228c52a4c62cbd44b66849b64244ffce5ecbaaf33bd751a1ac728d45e6c61296cdc3c01233561f41db66cce314adb310e3be8250c46f06dceea3a7fa1348057e2f6556ad6b1318a024a838f21af1fde048977eb48f59ffd4924ca1c60902e52f0a089bc76897040e082f937763848645e0705',
  )
  const box =
    'f3ffc7703f9400e52a7dfb4b3d3305d98e993b9f48681273c29650ba32fc76ce48332ea7164d96a4476fb8c531a1186ac0dfc17c98dce87b4da7f011ec48c97271d2c20f9b928fe2270d6fb863d51738b48eeee314a7cc8ab932164548e526ae90224368517acfeabd6bb3732bc0e9da99832b61ca01b6de56244a9e88d5f9b37973f622a43d14a6599b1f654cb45a74e355a5'
  const read = new SecretboxTransformer(key).transformFromStorage(hex(nonce + box))
  t.same(Buffer.from(read.data), Buffer.from(message))
})

t.test('AES keys of other sizes are refused', async (t) => {
  t.throws(() => new AesGcmTransformer(randomBytes(31)), { code: 'malformed' })
})

t.test('the identity provider passes plain bytes and refuses encrypted ones', async (t) => {
  for (const plain of ['{"kind":"Secret"}', 'k8s\0\n', '', 'k8s:en']) {
    t.same(encryptCheckTransformer.transformFromStorage(Buffer.from(plain), KEY), {
      data: Buffer.from(plain),
      stale: false,
    })
  }
  const encrypted = Buffer.from('k8s:enc:anything')
  t.throws(() => encryptCheckTransformer.transformFromStorage(encrypted, KEY), { code: 'encrypted' })
})
