import { writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { parseCommandLine } from '#keelson/main/flags/config-file.js'
import { foreignFlagNames } from '#keelson/main/flags/foreign-flags.js'
import { FLAGS } from '#keelson/main/flags/options.js'
import { temporaryFolder } from '../../support/temporary-folder.js'
import { KUBE_APISERVER_FLAGS } from './kube-apiserver-flags.js'

t.test('a file gives values, the command line has the last word', async (t) => {
  const file = path.join(temporaryFolder(t, 'config'), 'keelson.yaml')
  writeFileSync(
    file,
    'secure-port: 7000\nwatch-cache: false\nrequest-timeout: 30s\netcd-servers: [http://a:1, http://b:2]\n',
  )
  const { values, errors } = parseCommandLine(['--config', file, '--etcd-servers=http://c:3', '--watch-cache'], FLAGS)
  t.same(errors, [])
  t.equal(values.get('secure-port'), '7000')
  t.equal(values.get('watch-cache'), 'true')
  t.equal(values.get('request-timeout'), '30s')
  t.equal(values.get('etcd-servers'), 'http://c:3', 'a list is replaced, not added to')
})

t.test('everything that is wrong with a file is told with its name', async (t) => {
  const file = path.join(temporaryFolder(t, 'config'), 'keelson.json')
  writeFileSync(file, '{"secure-prt": 1, "secure-port": "x", "enable-swagger-ui": true}')
  const { errors, foreign } = parseCommandLine([`--config=${file}`, '--front-ands=2'], FLAGS)
  t.same(errors, [
    'unknown flag --front-ands; did you mean --front-ends?',
    `${file}: unknown flag --secure-prt; did you mean --secure-port?`,
    `${file}: --secure-port: "x" is not a whole number`,
  ])
  t.same(foreign, ['enable-swagger-ui'])
  writeFileSync(file, '[1]')
  t.match(parseCommandLine([`--config=${file}`], FLAGS).errors, [/must hold flags and their values/])
  writeFileSync(file, 'a: [')
  t.match(parseCommandLine([`--config=${file}`], FLAGS).errors, [/neither YAML nor JSON/])
  writeFileSync(file, 'secure-port: {a: [1]}\nsecure-prt: 1')
  t.match(parseCommandLine([`--config=${file}`], FLAGS).errors, [
    /"secure-port" must be a text/,
    /did you mean --secure-port/,
  ])
  t.match(parseCommandLine([`--config=${file}x`], FLAGS).errors, [/there is no file/])
  writeFileSync(file, '')
  t.same(parseCommandLine([`--config=${file}`], FLAGS).errors, [])
})

t.test('flags of kube-apiserver that do nothing here are taken, and their values with them', async (t) => {
  const { errors, foreign, values } = parseCommandLine(
    ['--enable-swagger-ui', '--v', '4', '--cloud-provider=', '--v=2', '--secure-port=1'],
    FLAGS,
  )
  t.same(errors, [])
  t.same(foreign, ['enable-swagger-ui', 'v', 'cloud-provider'])
  t.equal(values.get('secure-port'), '1')
  t.same(
    foreignFlagNames().filter((name) => FLAGS.some((flag) => flag.name === name)),
    [],
    'none of them is a flag of ours',
  )
})

t.test('every flag of kube-apiserver is known', async (t) => {
  const known = new Set([...FLAGS.map((flag) => flag.name), ...foreignFlagNames(), 'version', 'help'])
  t.same(
    KUBE_APISERVER_FLAGS.filter((name) => !known.has(name)),
    [],
  )
  const { errors, foreign } = parseCommandLine(['-v=2', '-v', '4', '-v7', '--logging_format=json'], FLAGS)
  t.same(errors, [])
  t.same(foreign, ['v', 'logging-format'])
})

t.test('flags that say who may come in are not left out unnoticed', async (t) => {
  const { errors, foreign } = parseCommandLine(['--authorization-config', 'file', '--authentication-config=x'], FLAGS)
  t.same(foreign, [])
  t.match(errors, [/^--authorization-config is not supported: /, /^--authentication-config is not supported: /])
})
