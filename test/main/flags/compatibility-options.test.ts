import t from 'tap'
import {
  compatibilityErrors,
  compatibilityWarnings,
  featureSwitches,
  pluginsWithoutGate,
} from '#keelson/main/flags/compatibility-options.js'
import { complete } from '#keelson/main/flags/config.js'
import { parseCommandLine } from '#keelson/main/flags/config-file.js'
import { FLAGS } from '#keelson/main/flags/options.js'

const values = (...argv: string[]) => parseCommandLine(argv, FLAGS).values
const gates = (text: string) => values(`--feature-gates=${text}`)
const errors = (...argv: string[]): string[] => compatibilityErrors(values(...argv))
const ALL_ON = { responseCompression: true, watchList: true, statusz: true, flagz: true }

t.test('gates that switch something here', async (t) => {
  t.same(featureSwitches(gates('')), ALL_ON)
  t.same(featureSwitches(gates('WatchList=false')), { ...ALL_ON, watchList: false })
  t.same(featureSwitches(gates('kube:APIResponseCompression=False,kube:ComponentFlagz=0')), {
    ...ALL_ON,
    responseCompression: false,
    flagz: false,
  })
  t.same(pluginsWithoutGate(gates('')), [])
  t.same(pluginsWithoutGate(gates('MutatingAdmissionPolicy=false,PodTopologyLabelsAdmission=false')), [
    'MutatingAdmissionPolicy',
    'PodTopologyLabels',
  ])
  const completed = complete(values('--feature-gates=MutatingAdmissionPolicy=false', '--data-dir=memory'))
  t.same('config' in completed && completed.config.admission.disable, ['MutatingAdmissionPolicy'])
})

t.test('a stage stands for its gates; a gate of its own counts more', async (t) => {
  t.same(featureSwitches(gates('AllBeta=false,WatchList=true')), {
    responseCompression: false,
    watchList: true,
    statusz: false,
    flagz: false,
  })
  t.same(featureSwitches(gates('AllAlpha=true')), ALL_ON)
})

t.test('unknown gates, locked ones and values that are none are refused', async (t) => {
  t.same(errors('--feature-gates=NoSuchGate=true'), ['--feature-gates: "NoSuchGate" is no feature gate'])
  t.same(errors('--feature-gates=DynamicResourceAllocation=false'), [
    '--feature-gates: DynamicResourceAllocation cannot be false: it is locked to true',
  ])
  t.same(errors('--feature-gates=DynamicResourceAllocation=true'), [])
  t.same(errors('--feature-gates=WatchList=maybe'), ['--feature-gates: "maybe" of "WatchList" is not true or false'])
  t.same(errors('--feature-gates=wardle:WatchList=true'), [
    '--feature-gates: there is no component "wardle", only kube',
  ])
  t.match(errors('--feature-gates=kube:WatchList=true,ComponentFlagz=true'), [/of all gates or of none$/])
  t.same(errors('--feature-gates=constructor=true'), ['--feature-gates: "constructor" is no feature gate'])
})

t.test('a gate that changes nothing is told when it is not at its default', async (t) => {
  t.same(compatibilityWarnings(gates('CBORServingAndStorage=true,StorageVersionHash=true,WatchList=false')), [
    '--feature-gates: CBORServingAndStorage=true changes nothing here',
  ])
  t.same(compatibilityWarnings(gates('AllAlpha=true')), ['--feature-gates: AllAlpha=true changes nothing here'])
  t.same(compatibilityWarnings(values('--min-compatibility-version=1.35')), [
    '--min-compatibility-version changes nothing here',
  ])
})

t.test('no version but this one is emulated', async (t) => {
  t.same(errors('--emulated-version=kube=1.36', '--min-compatibility-version=1.33'), [])
  t.match(errors('--emulated-version=1.35'), [/"1\.35" cannot be; this server is 1\.36/])
  t.match(errors('--emulated-version=kube=1.36.4'), [/cannot be/])
  t.match(errors('--min-compatibility-version=1.32'), [/it is from 1\.33 to 1\.36/])
  t.match(errors('--min-compatibility-version=wardle=1.2'), [/there is no component "wardle"/])
  t.match(errors('--emulation-forward-compatible'), [/^--emulation-forward-compatible must be false/])
  t.match(errors('--runtime-config-emulation-forward-compatible'), [/must be false/])
})
