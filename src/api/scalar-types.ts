/** Thread: any. What decoded objects hold for scalars that JSON has no type for, under the names of their Go types. */

/** A bigint only outside JavaScript's safe range. Comparisons take both; arithmetic does not. */
export type Int64 = number | bigint
/** A count or a percentage, a port or its name. */
export type IntOrString = number | string
/** Canonical text: 500m, 2Gi. */
export type Quantity = string
/** Amounts by the name of the resource. */
export type ResourceList = { [name: string]: Quantity }
/** RFC 3339 with seconds, in UTC. */
export type Time = string
/** RFC 3339 with microseconds, in UTC. */
export type MicroTime = string
/** Base64 with padding. */
export type Bytes = string
