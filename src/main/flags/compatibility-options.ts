/** Thread: main. The flags that say how much of which version is on: feature gates and emulated versions. */

import type { PluginName } from '../../admission/plugin-names.js'
import { KUBERNETES_VERSION } from '../../api/catalogue.js'
import { flagBoolean, flagList, flagText } from './flag-values.js'
import { type FlagValues, flagsOf } from './flags.js'
import { FEATURE_GATES } from './gate-table.js'

const flag = flagsOf('Features and versions')

export const COMPATIBILITY_FLAGS = [
  flag(
    'feature-gates',
    'map',
    '',
    'Feature gates of kube-apiserver, name=true or name=false, with or without kube: before them; docs/flags.md lists those that switch something here.',
  ),
  flag('emulated-version', 'list', '', 'The version whose behaviour is served: only this one, as kube=1.36.'),
  flag(
    'min-compatibility-version',
    'list',
    '',
    'The oldest version of other components that this one must get on with, from kube=1.33 on; nothing depends on it.',
  ),
  ...['emulation-forward-compatible', 'runtime-config-emulation-forward-compatible'].map((name) =>
    flag(name, 'boolean', 'false', 'For an older --emulated-version; with this one it must be false.'),
  ),
]

/** The component that a flag means when it names none; there is no other. */
const COMPONENT = 'kube'
const BINARY_VERSION = KUBERNETES_VERSION.slice(1).split('.').slice(0, 2).join('.')
/** How many versions back kube-apiserver can be made compatible with. */
const VERSIONS_BACK = 3

/** What gates switch here. All of these are on by default. */
export interface FeatureSwitches {
  /** Large answers are compressed for clients that ask for it. */
  readonly responseCompression: boolean
  /** Watches may ask for the state of now as events before the rest. */
  readonly watchList: boolean
  readonly statusz: boolean
  readonly flagz: boolean
}

const SWITCHES = {
  APIResponseCompression: 'responseCompression',
  WatchList: 'watchList',
  ComponentStatusz: 'statusz',
  ComponentFlagz: 'flagz',
} as const satisfies Record<string, keyof FeatureSwitches>

/** Gates without which an admission plugin does nothing. */
const PLUGINS = {
  MutatingAdmissionPolicy: 'MutatingAdmissionPolicy',
  NodeDeclaredFeatures: 'NodeDeclaredFeatureValidator',
  PodTopologyLabelsAdmission: 'PodTopologyLabels',
} as const satisfies Record<string, PluginName>

/** Gates that stand for all of a stage. */
const ALL = { AllAlpha: 'Alpha', AllBeta: 'Beta' } as const

/** What gates switch here, in words: docs/flags.md shows it. */
export const GATE_EFFECTS: Readonly<Record<keyof typeof SWITCHES | keyof typeof PLUGINS, string>> = {
  APIResponseCompression: 'gzip for answers from 128 KiB on, for clients that ask for it',
  ComponentFlagz: '`/flagz`',
  ComponentStatusz: '`/statusz`',
  MutatingAdmissionPolicy: 'the admission plugin of the same name',
  NodeDeclaredFeatures: 'the admission plugin NodeDeclaredFeatureValidator',
  PodTopologyLabelsAdmission: 'the admission plugin PodTopologyLabels',
  WatchList: '`sendInitialEvents` of watches; without it such a watch is refused with 422, and clients list instead',
}

/** What was given, with its place: the part after = and whether kube: stood before the name. */
interface GivenGate {
  readonly component: string | undefined
  readonly name: string
  readonly value: string
}

function givenGates(values: FlagValues): GivenGate[] {
  return flagList(values, 'feature-gates').map((pair) => {
    const equals = pair.indexOf('=')
    const [before, after] = [pair.slice(0, equals).trim(), pair.slice(equals + 1).trim()]
    const colon = before.indexOf(':')
    const component = colon < 0 ? undefined : before.slice(0, colon)
    return { component, name: before.slice(colon + 1), value: after.toLowerCase() }
  })
}

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['t', true],
  ['1', true],
  ['false', false],
  ['f', false],
  ['0', false],
])

function gateErrors(values: FlagValues): string[] {
  const given = givenGates(values)
  const errors: string[] = []
  const say = (text: string): void => void errors.push(`--feature-gates: ${text}`)
  for (const { component = COMPONENT, name, value } of given) {
    const gate = FEATURE_GATES.get(name)
    const wanted = BOOLEANS.get(value)
    if (component !== COMPONENT) say(`there is no component ${JSON.stringify(component)}, only ${COMPONENT}`)
    else if (wanted === undefined) say(`${JSON.stringify(value)} of ${JSON.stringify(name)} is not true or false`)
    else if (gate === undefined && !Object.hasOwn(ALL, name)) say(`${JSON.stringify(name)} is no feature gate`)
    else if (gate?.isLocked === true && wanted !== gate.isOn)
      say(`${name} cannot be ${wanted}: it is locked to ${gate.isOn}`)
  }
  if (given.some((one) => one.component === undefined) && given.some((one) => one.component !== undefined))
    say(`${COMPONENT}: stands before the names of all gates or of none`)
  return errors
}

/** The values of all gates that were given or belong to a stage that was; a gate itself counts more than its stage. */
function gateValues(values: FlagValues): Map<string, boolean> {
  const given = givenGates(values)
  const asked = new Map<string, boolean>()
  for (const { name, value } of given) {
    const stage = Object.hasOwn(ALL, name) ? ALL[name as keyof typeof ALL] : undefined
    if (stage === undefined) continue
    for (const [gate, { stage: its, isLocked }] of FEATURE_GATES)
      if (its === stage && !isLocked) asked.set(gate, BOOLEANS.get(value) === true)
  }
  for (const { name, value } of given) if (FEATURE_GATES.has(name)) asked.set(name, BOOLEANS.get(value) === true)
  return asked
}

/** Lines about gates that were given another value than the one that is lived by here. */
export function gateWarnings(values: FlagValues): string[] {
  if (gateErrors(values).length > 0) return []
  const ignored = givenGates(values).filter(({ name, value }) => {
    const isDefault = FEATURE_GATES.get(name)?.isOn === BOOLEANS.get(value)
    return !isDefault && !Object.hasOwn(GATE_EFFECTS, name)
  })
  return ignored.map(({ name, value }) => `--feature-gates: ${name}=${value} changes nothing here`)
}

const isOn = (asked: ReadonlyMap<string, boolean>, name: string): boolean =>
  asked.get(name) ?? FEATURE_GATES.get(name)!.isOn

export function featureSwitches(values: FlagValues): FeatureSwitches {
  const asked = gateValues(values)
  const entries = Object.entries(SWITCHES).map(([gate, name]) => [name, isOn(asked, gate)])
  return Object.fromEntries(entries) as unknown as FeatureSwitches
}

/** The admission plugins that gates turn off. */
export function pluginsWithoutGate(values: FlagValues): string[] {
  const asked = gateValues(values)
  return Object.entries(PLUGINS).flatMap(([gate, plugin]) => (isOn(asked, gate) ? [] : [plugin]))
}

export function compatibilityErrors(values: FlagValues): string[] {
  const errors = gateErrors(values)
  const minor = (version: string): number => Number(/^1\.(\d{1,3})$/.exec(version)?.[1] ?? Number.NaN)
  const newest = minor(BINARY_VERSION)
  for (const name of ['emulated-version', 'min-compatibility-version']) {
    const given = flagList(values, name)
    if (given.length > 1) errors.push(`--${name}: ${COMPONENT} is given more than once`)
    for (const text of given) {
      const [component, version] = text.includes('=') ? (text.split('=') as [string, string]) : [COMPONENT, text]
      const oldest = name === 'emulated-version' ? newest : newest - VERSIONS_BACK
      if (component !== COMPONENT) errors.push(`--${name}: there is no component ${JSON.stringify(component)}`)
      else if (!(minor(version) >= oldest && minor(version) <= newest))
        errors.push(
          `--${name}: ${JSON.stringify(version)} cannot be; ${oldest === newest ? `this server is ${BINARY_VERSION} and emulates no other version` : `it is from 1.${oldest} to ${BINARY_VERSION}`}`,
        )
    }
  }
  for (const name of ['emulation-forward-compatible', 'runtime-config-emulation-forward-compatible'])
    if (flagBoolean(values, name))
      errors.push(`--${name} must be false: the emulated version is that of the server, ${BINARY_VERSION}`)
  return errors
}

/** What --min-compatibility-version and gates say and nobody acts on. */
export const compatibilityWarnings = (values: FlagValues): string[] => [
  ...gateWarnings(values),
  ...(flagText(values, 'min-compatibility-version') === '' ? [] : ['--min-compatibility-version changes nothing here']),
]
