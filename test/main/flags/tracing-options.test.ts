import { writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { parseCommandLine } from '#keelson/main/flags/config-file.js'
import { FLAGS } from '#keelson/main/flags/options.js'
import { tracingConfig } from '#keelson/main/flags/tracing-options.js'
import { temporaryFolder } from '../../support/temporary-folder.js'

const file = path.join(temporaryFolder(t, 'tracing'), 'tracing.yaml')
const { values } = parseCommandLine([`--tracing-config-file=${file}`], FLAGS)
const HEAD = 'apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\n'
const read = (text: string) => {
  writeFileSync(file, text)
  return tracingConfig(values)
}

t.test('without a file nothing is traced', async (t) => {
  t.same(tracingConfig(parseCommandLine([], FLAGS).values), { config: undefined })
})

t.test('a file gives the collector and the rate', async (t) => {
  t.match(read(HEAD), { config: { endpoint: { host: 'localhost', port: 4317 }, samplingRatePerMillion: 0 } })
  t.match(read(HEAD.replace('/v1', '/v1beta1').concat('samplingRatePerMillion: 100\nendpoint: collector:80\n')), {
    config: { endpoint: { host: 'collector', port: 80 }, samplingRatePerMillion: 100 },
  })
  const endpoint = (text: string) => read(`${HEAD}endpoint: "${text}"\n`)
  t.match(endpoint('dns:///a.example:1'), { config: { endpoint: { host: 'a.example', port: 1 } } })
  t.match(endpoint('dns://a.example:1'), { config: { endpoint: { host: 'a.example', port: 1 } } })
  t.match(endpoint('[::1]:5'), { config: { endpoint: { host: '::1', port: 5 } } })
  t.match(endpoint('unix:/run/otlp.sock'), { config: { endpoint: { path: '/run/otlp.sock' } } })
  t.match(endpoint('unix:///run/otlp.sock'), { config: { endpoint: { path: '/run/otlp.sock' } } })
})

t.test('what is wrong is told, all of it, with the flag and the file', async (t) => {
  for (const wrong of ['https://a:1', 'a b:1', 'a:1/path', 'a:999999', '', '@'])
    t.match(read(`${HEAD}endpoint: "${wrong}"\n`), { errors: [/endpoint must be host:port/] }, wrong)
  for (const wrong of ['-1', '1000001', '1.5', '"5"', 'true', '[1]'])
    t.match(read(`${HEAD}samplingRatePerMillion: ${wrong}\n`), { errors: [/whole number from 0 to 1000000/] }, wrong)
  t.match(read('kind: Other\nmore: 1\nendpoint: 5\n'), {
    errors: [/must be a TracingConfiguration of/, /"more" is unknown/, /endpoint must be/],
  })
  t.match(read('[1]'), { errors: [/holds no TracingConfiguration/] })
  t.match(read('a: ['), { errors: [/^--tracing-config-file: .* cannot be read: /] })
  t.match(tracingConfig(parseCommandLine(['--tracing-config-file=/nowhere/x'], FLAGS).values), {
    errors: [/^--tracing-config-file: there is no file/],
  })
})
