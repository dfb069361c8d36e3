import path from 'node:path'
import { systemClock } from '#keelson/lib/clock.js'
import { EmbeddedEngine } from '#keelson/storage/embedded/embedded-engine.js'
import { EtcdKV } from '#keelson/storage/etcd/etcd-kv.js'
import { EtcdServer } from '../../support/etcd-server.js'
import { KeelsonProcess } from '../../support/keelson-process.js'
import { SERVER_FLAGS, type ServedEngine } from './http-harness.js'

export type StoppableEngine = ServedEngine & { stop(): Promise<void> }

/** The data folder is the server's alone: who wants at it stops the server meanwhile. */
export async function serveEmbedded(): Promise<StoppableEngine> {
  let server = await KeelsonProcess.start(SERVER_FLAGS, undefined, { tls: true })
  const { dataDir } = server
  const startAgain = async (): Promise<void> => {
    server = await KeelsonProcess.start(SERVER_FLAGS, dataDir, { tls: true })
  }
  return {
    server: () => server,
    restart: async () => {
      await server.stop()
      await startAgain()
    },
    withEngine: async (work) => {
      await server.stop()
      const engine = await EmbeddedEngine.open({ dataDir: path.join(dataDir, 'data'), clock: systemClock })
      try {
        return await work(engine)
      } finally {
        await engine.close()
        await startAgain()
      }
    },
    shared: false,
    progressOnDemand: () => Promise.resolve(true),
    stop: () => server.close(),
  }
}

export async function serveEtcd(): Promise<StoppableEngine> {
  const etcd = await EtcdServer.start()
  const kv = new EtcdKV({ endpoints: [etcd.endpoint] })
  const flags = [...SERVER_FLAGS, `--etcd-servers=${etcd.endpoint}`]
  let server = await KeelsonProcess.start(flags, undefined, { tls: true })
  return {
    server: () => server,
    restart: async () => {
      await server.stop()
      server = await KeelsonProcess.start(flags, server.dataDir, { tls: true })
    },
    withEngine: (work) => work(kv),
    shared: true,
    progressOnDemand: () => kv.progressTrusted(),
    stop: async () => {
      await server.close()
      await kv.close()
      await etcd.stop()
    },
  }
}
