/** Opens a folder, says so, and holds it until it is killed. */
import { EmbeddedEngine } from '#keelson/storage/embedded/embedded-engine.js'

const engine = await EmbeddedEngine.open({ dataDir: process.argv[2]! })
await engine.optimisticPut('/r/a', Buffer.from('from the other process'), 0)
process.stdout.write('open\n')
process.stdin.resume()
