/** Thread: pool. PriorityLevelConfigurations: how many requests of a level are served at once, and how the rest waits. */

import { FieldPath, forbidden, invalid, required } from '../../../api/field-error.js'
import type {
  LimitedPriorityLevelConfiguration,
  PriorityLevelConfiguration,
  PriorityLevelConfigurationSpec,
  QueuingConfiguration,
} from '../../../api/generated/kinds/flowcontrol.v1.js'
import { type Errors, oneOf, sameValue } from '../../../api/validation/checks.js'
import type { ResourceRules } from '../../generic/resource-rules.js'
import { age, NONE, tableOf, text } from '../../generic/table-rules.js'
import { flowControlStatusRules } from '../status-rules.js'

const SPEC = FieldPath.of('spec')
/** Means something in v1beta3 alone, and is gone from what that version stores. */
const KEEP_ZERO_SHARES = 'flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares'
const CATCH_ALL: PriorityLevelConfigurationSpec = {
  type: 'Limited',
  limited: { nominalConcurrencyShares: 5, lendablePercent: 0, limitResponse: { type: 'Reject' } },
}
const MAX_QUEUES = 10_000_000
/** A hand of queues is dealt from one 64-bit hash of the flow, of which this many bits are good. */
const MAX_HASH_BITS = 60

function setDefaults(object: PriorityLevelConfiguration): void {
  const { exempt, limited } = object.spec ?? {}
  if (exempt) {
    exempt.nominalConcurrencyShares ??= 0
    exempt.lendablePercent ??= 0
  }
  if (!limited) return
  limited.nominalConcurrencyShares ??= 30
  limited.lendablePercent ??= 0
  const queuing = limited.limitResponse?.queuing
  if (!queuing) return
  queuing.handSize ||= 8
  queuing.queues ||= 64
  queuing.queueLengthLimit ||= 50
}

/** Bits that it takes to deal a hand: the logarithm of the number of ordered hands. */
function entropyBits(queues: number, handSize: number): number {
  let bits = 0
  for (let i = 0; i < handSize; i++) bits += Math.log2(queues - i)
  return Math.ceil(bits)
}

function queuingErrors(
  { queues = 0, handSize = 0, queueLengthLimit = 0 }: QueuingConfiguration,
  path: FieldPath,
): Errors {
  const errors: Errors = []
  const hand = path.child('handSize')
  if (queueLengthLimit <= 0) errors.push(invalid(path.child('queueLengthLimit'), queueLengthLimit, 'must be positive'))
  if (queues <= 0) errors.push(invalid(path.child('queues'), queues, 'must be positive'))
  else if (queues > MAX_QUEUES)
    errors.push(invalid(path.child('queues'), queues, `must not be greater than ${MAX_QUEUES}`))
  if (handSize <= 0) errors.push(invalid(hand, handSize, 'must be positive'))
  else if (handSize > queues) errors.push(invalid(hand, handSize, `should not be greater than queues (${queues})`))
  else if (entropyBits(queues, handSize) > MAX_HASH_BITS)
    errors.push(invalid(hand, handSize, `takes more than ${MAX_HASH_BITS} bits to deal from ${queues} queues`))
  return errors
}

function sharesErrors(
  { nominalConcurrencyShares: shares, lendablePercent: lendable }: LimitedPriorityLevelConfiguration,
  path: FieldPath,
): Errors {
  return [
    ...((shares ?? 0) < 0
      ? [invalid(path.child('nominalConcurrencyShares'), shares, 'must be a non-negative integer')]
      : []),
    ...(lendable !== undefined && (lendable < 0 || lendable > 100)
      ? [invalid(path.child('lendablePercent'), lendable, 'must be between 0 and 100, inclusive')]
      : []),
  ]
}

function limitedErrors(limited: LimitedPriorityLevelConfiguration): Errors {
  const path = SPEC.child('limited')
  const { limitResponse = {}, borrowingLimitPercent: borrowing } = limited
  const response = path.child('limitResponse')
  const errors = [
    ...sharesErrors(limited, path),
    ...oneOf(limitResponse.type, ['Queue', 'Reject'], response.child('type'), 'required'),
  ]
  if (borrowing !== undefined && borrowing < 0)
    errors.push(invalid(path.child('borrowingLimitPercent'), borrowing, 'if specified, must be a non-negative integer'))
  const queuing = response.child('queuing')
  if (limitResponse.type === 'Reject' && limitResponse.queuing)
    errors.push(forbidden(queuing, 'nothing waits when it is refused'))
  if (limitResponse.type === 'Queue')
    errors.push(...(limitResponse.queuing ? queuingErrors(limitResponse.queuing, queuing) : [required(queuing)]))
  return errors
}

/** The two levels that every server has are fixed: the shares of the exempt one may change, and of the last resort nothing. */
function fixedErrors(name: string, spec: PriorityLevelConfigurationSpec): Errors {
  const { exempt: _exempt, ...rest } = spec
  const same =
    name === 'exempt' ? sameValue(rest, { type: 'Exempt' }) : name !== 'catch-all' || sameValue(spec, CATCH_ALL)
  return same ? [] : [invalid(SPEC, spec, `spec of '${name}' must equal the fixed value`)]
}

function validate(object: PriorityLevelConfiguration): Errors {
  const { metadata, spec = {} } = object
  const { type = '', exempt, limited } = spec
  const name = metadata?.name ?? ''
  const errors: Errors = []
  if (Object.hasOwn(metadata?.annotations ?? {}, KEEP_ZERO_SHARES))
    errors.push(forbidden(FieldPath.of('metadata', 'annotations'), `${KEEP_ZERO_SHARES} is forbidden`))
  if ((name === 'exempt') !== (type === 'Exempt'))
    errors.push(invalid(SPEC.child('type'), type, "must be 'Exempt' if and only if `name` is 'exempt'"))
  if (type === 'Exempt') {
    if (limited) errors.push(forbidden(SPEC.child('limited'), 'must be nil if the type is not Limited'))
    if (exempt) errors.push(...sharesErrors(exempt, SPEC.child('exempt')))
  }
  if (type === 'Limited') {
    if (exempt) errors.push(forbidden(SPEC.child('exempt'), 'must be nil if the type is Limited'))
    errors.push(...(limited ? limitedErrors(limited) : [required(SPEC.child('limited'))]))
  }
  return [...errors, ...oneOf(type, ['Exempt', 'Limited'], SPEC.child('type'), 'required'), ...fixedErrors(name, spec)]
}

const limitedCell =
  (cell: (limited: LimitedPriorityLevelConfiguration) => number | null | undefined) =>
  (object: PriorityLevelConfiguration) =>
    (object.spec?.limited && cell(object.spec.limited)) ?? NONE

export const priorityLevelConfigurationRules: ResourceRules<PriorityLevelConfiguration> = {
  generationFields: ['spec'],
  setDefaults,
  validate,
  status: flowControlStatusRules,
  // Updates are checked as new objects are, and no more.
  metadataOnUpdate: 'changes',
  table: tableOf<PriorityLevelConfiguration>(
    text('Type', 'Limited, or Exempt.', ({ spec }) => spec?.type ?? ''),
    text(
      'NominalConcurrencyShares',
      'Its part of what is served at once.',
      limitedCell(({ nominalConcurrencyShares }) => nominalConcurrencyShares),
    ),
    text(
      'Queues',
      'How many queues it has.',
      limitedCell(({ limitResponse }) => limitResponse?.queuing?.queues),
    ),
    text(
      'HandSize',
      'How many queues a flow may use.',
      limitedCell(({ limitResponse }) => limitResponse?.queuing?.handSize),
    ),
    text(
      'QueueLengthLimit',
      'How many requests wait in a queue.',
      limitedCell(({ limitResponse }) => limitResponse?.queuing?.queueLengthLimit),
    ),
    age(),
  ),
}
