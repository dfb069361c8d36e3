import { mkdirSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { keepCompiledCode } from '#keelson/main/compiled-code.js'
import { temporaryFolder } from '../support/temporary-folder.js'

interface Kept {
  readonly folders: string[]
  readonly environment: NodeJS.ProcessEnv
}

function kept(bundle: string, environment: NodeJS.ProcessEnv = {}): Kept {
  const folders: string[] = []
  keepCompiledCode(bundle, environment, { enableCompileCache: (folder) => folders.push(folder) })
  return { folders, environment }
}

t.test('compiled code is kept beside the bundle, for this thread and those that it starts', async (t) => {
  const bundle = temporaryFolder(t, 'bundle')
  const { folders, environment } = kept(bundle)
  t.same(folders, [path.join(bundle, 'compiled')])
  t.equal(environment['NODE_COMPILE_CACHE'], path.join(bundle, 'compiled'))
})

t.test('a folder that is named by Node’s variable is used, and Node’s switch turns it off', async (t) => {
  const bundle = temporaryFolder(t, 'bundle')
  t.same(kept(bundle, { NODE_COMPILE_CACHE: '/elsewhere' }).folders, ['/elsewhere'])
  t.same(kept(bundle, { NODE_DISABLE_COMPILE_CACHE: '1' }), {
    folders: [],
    environment: { NODE_DISABLE_COMPILE_CACHE: '1' },
  })
})

t.test('where nothing can be written beside the bundle, only what is there already is used', async (t) => {
  const absent = path.join(temporaryFolder(t, 'bundle'), 'absent')
  t.same(kept(absent), { folders: [], environment: {} })
  mkdirSync(path.join(absent, 'compiled'), { recursive: true })
  t.same(kept(absent).folders, [path.join(absent, 'compiled')])
})

t.test('a Node that cannot keep it starts without', async (t) => {
  const environment = {}
  keepCompiledCode(temporaryFolder(t, 'bundle'), environment, {})
  t.same(environment, {})
})
