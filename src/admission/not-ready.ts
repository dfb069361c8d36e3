/** Thread: pool. What a request is told while this thread has never known the policies or webhooks that it may be subject to. */
import { newForbidden, type StatusError } from '../api/status.js'
import type { AdmissionAttributes } from './chain.js'

export const notReady = ({ resource, name }: AdmissionAttributes): StatusError =>
  newForbidden(resource, name, 'not yet ready to handle request')
