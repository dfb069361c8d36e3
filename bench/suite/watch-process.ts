/** Watchers in a process of their own, so that who writes is not who reads. Told and asked by fan-out.ts over messages. */
import { Watchers } from '../load/watchers.js'
import type { FanOutAnswer, FanOutOrder } from './fan-out.js'

const watchers = new Watchers()
let before = process.cpuUsage()
const tell = (answer: FanOutAnswer): void => void process.send?.(answer)

process.on('message', (order: FanOutOrder) => {
  if (order.type === 'open')
    void watchers.open(order.url, order.target, order.token, order.count).then(
      () => tell({ type: 'opened' }),
      (error: unknown) => tell({ type: 'failed', reason: String(error) }),
    )
  else if (order.type === 'begin') {
    watchers.reset()
    before = process.cpuUsage()
    tell({ type: 'begun' })
  } else {
    const { user, system } = process.cpuUsage(before)
    const { events, latenciesMs } = watchers
    tell({ type: 'seen', events, latenciesMs, processorMicroseconds: user + system })
  }
})
