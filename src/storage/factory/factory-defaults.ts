/** Thread: any. The form in which kube-apiserver v1.36 stores resources that are no exception. */
import type { MediaType } from './storage-config.js'

export const DEFAULT_MEDIA_TYPE: MediaType = 'application/vnd.kubernetes.protobuf'
export const EMBEDDED_MEDIA_TYPE: MediaType = 'application/vnd.kubernetes.protobuf'
