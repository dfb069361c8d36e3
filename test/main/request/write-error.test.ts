import t from 'tap'
import { newNotFound } from '#keelson/api/status.js'
import { nullLogger } from '#keelson/lib/logger.js'
import { Exchange } from '#keelson/main/http/exchange.js'
import { writeError } from '#keelson/main/request/write-error.js'
import { FakePort, requestHead } from '../http/fake-port.js'

t.test('an error in the middle of an answer breaks it off, whatever it is', async (t) => {
  for (const error of [new Error('a defect'), newNotFound({ group: '', resource: 'pods' }, 'a')]) {
    const port = new FakePort()
    const exchange = new Exchange(requestHead({}), port)
    exchange.startStream({ status: 200, contentType: 'text/plain' })?.write(Buffer.from('the beginning'))
    writeError(exchange, error, nullLogger)
    t.ok(port.closed)
  }
})

t.test('an error before the answer is the answer, and one after it changes nothing', async (t) => {
  const port = new FakePort()
  const exchange = new Exchange(requestHead({}), port)
  writeError(exchange, newNotFound({ group: '', resource: 'pods' }, 'a'), nullLogger)
  t.equal(port.status, '404 Not Found')
  writeError(exchange, new Error('later'), nullLogger)
  t.notOk(port.closed)
})
