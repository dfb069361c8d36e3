/** A process of its own: so many connections that list without pause until the process that started it says stop. */
import { HttpConnection } from './http-connection.js'

const [url = '', path = '', token = '', connections = '500'] = process.argv.slice(2)
const counts = { lists: 0, refused: 0, other: 0, cut: 0, bytes: 0 }
let stopping = false

async function listWithoutPause(): Promise<void> {
  const connection = new HttpConnection(url, path, token)
  while (!stopping) {
    const { status, bytes, cut } = await connection.get()
    if (cut) {
      counts.cut++
      return
    }
    counts.bytes += bytes
    if (status === 200) counts.lists++
    else if (status === 429) counts.refused++
    else counts.other++
  }
  connection.close()
}

const all = Promise.all(Array.from({ length: Number(connections) }, listWithoutPause))
process.on('message', () => {
  stopping = true
  void all.then(() => process.send?.(counts, () => process.exit(0)))
})
process.send?.('started')
