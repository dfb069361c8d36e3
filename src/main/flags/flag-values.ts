/** Thread: main. The values of flags in their types. Values that are not of their type were reported before. */
import { parseDurationMs } from '../../api/duration.js'
import { type FlagValues, parseBytes } from './flags.js'

export const flagText = (values: FlagValues, name: string): string => values.get(name) ?? ''
export const flagNumber = (values: FlagValues, name: string): number => Number(flagText(values, name))
export const flagBoolean = (values: FlagValues, name: string): boolean => flagText(values, name) === 'true'
export const flagDurationMs = (values: FlagValues, name: string): number => parseDurationMs(flagText(values, name)) ?? 0
export const flagBytes = (values: FlagValues, name: string): number => parseBytes(flagText(values, name)) ?? 0
export const flagList = (values: FlagValues, name: string): string[] =>
  flagText(values, name)
    .split(',')
    .filter((part) => part !== '')

/** What is wrong with a number that must lie between two others. */
export function rangeErrors(values: FlagValues, name: string, low: number, high: number): string[] {
  const number = flagNumber(values, name)
  const isOutside = Number.isFinite(number) && (number < low || number > high)
  return isOutside ? [`--${name} must be between ${low} and ${high}, not ${number}`] : []
}
