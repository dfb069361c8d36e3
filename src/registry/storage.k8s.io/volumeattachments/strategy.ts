/** Thread: pool. VolumeAttachments: the wish to attach a volume to a node, which never changes. */
import { FieldPath, forbidden, invalid, required, tooLong } from '../../../api/field-error.js'
import type { VolumeAttachment } from '../../../api/generated/kinds/storage.v1.js'
import { dnsSubdomain, type Errors, immutable, maxBytes } from '../../../api/validation/checks.js'
import { persistentVolumeSpecErrors } from '../../core/persistentvolumes/volume-spec.js'
import type { ResourceRules } from '../../generic/resource-rules.js'
import { keepMetadata } from '../../generic/rules-strategy.js'
import { age, tableOf, text } from '../../generic/table-rules.js'
import { driverNameErrors } from '../parameters.js'

const SPEC = FieldPath.of('spec')
const SOURCE = SPEC.child('source')
const STATUS = FieldPath.of('status')
const METADATA_BYTES = 256 * 1024
const EXACTLY_ONE = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName'

function sourceErrors({ spec }: VolumeAttachment): Errors {
  const { persistentVolumeName: name, inlineVolumeSpec: inline } = spec?.source ?? {}
  const errors: Errors = []
  if (name === undefined && !inline) errors.push(required(SOURCE, EXACTLY_ONE))
  else if (name !== undefined && inline) errors.push(forbidden(SOURCE, EXACTLY_ONE))
  else if (name === '') errors.push(required(SOURCE.child('persistentVolumeName')))
  else if (inline) errors.push(...persistentVolumeSpecErrors(inline, '', SOURCE.child('inlineVolumeSpec'), true))
  if (name !== undefined) errors.push(...dnsSubdomain(name, SOURCE.child('persistentVolumeName')))
  return errors
}

function statusErrors({ status = {} }: VolumeAttachment): Errors {
  const entries = Object.entries(status.attachmentMetadata ?? {})
  const size = entries.reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value), 0)
  const errors = size > METADATA_BYTES ? [tooLong(STATUS.child('attachmentMetadata'), METADATA_BYTES)] : []
  for (const field of ['attachError', 'detachError'] as const) {
    const error = status[field]
    errors.push(...maxBytes(error?.message, STATUS.child(field, 'message'), 1024))
    if ((error?.errorCode ?? 0) < 0)
      errors.push(
        invalid(STATUS.child(field, 'errorCode'), error?.errorCode, 'must be between 0 and 2147483647, inclusive'),
      )
  }
  return errors
}

function validate(object: VolumeAttachment): Errors {
  const { spec = {} } = object
  return [
    ...driverNameErrors(spec.attacher, SPEC.child('attacher')),
    ...sourceErrors(object),
    ...dnsSubdomain(spec.nodeName ?? '', SPEC.child('nodeName')),
    ...statusErrors(object),
  ]
}

export const volumeAttachmentRules: ResourceRules<VolumeAttachment> = {
  returnDeletedObject: true,
  allowUnconditionalUpdate: false,
  validate,
  validateUpdate: (object, old) => [...validate(object), ...immutable(object['spec'], old['spec'], SPEC)],
  status: {
    resetFields: [['metadata'], ['spec']],
    prepareForUpdate: keepMetadata,
    validateUpdate: (object) => validate(object),
  },
  table: tableOf<VolumeAttachment>(
    text('Attacher', 'The driver that attaches.', ({ spec }) => spec?.attacher ?? '', { format: 'name' }),
    text('PV', 'The volume.', ({ spec }) => spec?.source?.persistentVolumeName ?? ''),
    text('Node', 'The node.', ({ spec }) => spec?.nodeName ?? ''),
    text('Attached', 'Whether it is done.', ({ status }) => status?.attached ?? false, { type: 'boolean' }),
    age(),
  ),
}
