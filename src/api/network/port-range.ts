/** Thread: any. The ports that nodes give to services, as --service-node-port-range says: `30000-32767`. */
import { bandOf, PORT_BAND } from './band.js'

export interface PortRange {
  readonly base: number
  readonly size: number
}

const MAX_PORT = 65535

/** Also `30000+100`, a base and how many more. Undefined when it is no range of ports. */
export function parsePortRange(text: string): PortRange | undefined {
  const match = /^(\d{1,5})(?:\s*([-+])\s*(\d{1,5}))?$/.exec(text.trim())
  if (match === null) return undefined
  const low = Number(match[1])
  const second = Number(match[3] ?? '0')
  const high = match[2] === '-' ? second : low + second
  if (high < low || high > MAX_PORT) return undefined
  return { base: low, size: high - low + 1 }
}

export const formatPortRange = ({ base, size }: PortRange): string => `${base}-${base + size - 1}`
export const portBand = ({ size }: PortRange): number => bandOf(size, PORT_BAND)
export const portIndex = ({ base, size }: PortRange, port: number): number | undefined =>
  port >= base && port < base + size ? port - base : undefined
