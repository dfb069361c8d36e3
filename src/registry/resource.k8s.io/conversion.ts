/**
 * Thread: any. resource.k8s.io/v1beta1: what a request asks for stood in the request itself, and what a device is in a
 * `basic` part of it. The versions after it differ in their name alone.
 */
import type * as v1 from '../../api/generated/kinds/resource.v1.js'
import type * as v1beta1 from '../../api/generated/kinds/resource.v1beta1.js'
import type { VersionConversion } from '../generic/resource-rules.js'

export const V1BETA1 = 'resource.k8s.io/v1beta1'
const V1 = 'resource.k8s.io/v1'

function requestToV1({ name, firstAvailable, ...asked }: v1beta1.DeviceRequest): v1.DeviceRequest {
  const isExact = Object.values(asked).some((value) => value !== undefined && value !== '')
  return {
    ...(name === undefined ? {} : { name }),
    ...(isExact ? { exactly: asked } : {}),
    ...(firstAvailable === undefined ? {} : { firstAvailable }),
  }
}

const requestFromV1 = ({ exactly, ...rest }: v1.DeviceRequest): v1beta1.DeviceRequest => ({ ...rest, ...exactly })

/** The spec of a claim, in either version: only what it says of a request differs. */
interface ClaimSpec<Request> {
  devices?: Omit<v1.DeviceClaim, 'requests'> & { requests?: Request[] | null }
}

function withRequests<From, To>({ devices, ...spec }: ClaimSpec<From>, change: (request: From) => To): ClaimSpec<To> {
  if (!devices) return spec
  const { requests, ...claim } = devices
  return { ...spec, devices: { ...claim, ...(requests ? { requests: requests.map(change) } : {}) } }
}

export const claimsV1beta1: VersionConversion<v1.ResourceClaim, v1beta1.ResourceClaim> = {
  toMemoryVersion: ({ spec, ...claim }) => ({
    ...claim,
    apiVersion: V1,
    ...(spec ? { spec: withRequests(spec, requestToV1) } : {}),
  }),
  fromMemoryVersion: ({ spec, ...claim }) => ({
    ...claim,
    apiVersion: V1BETA1,
    ...(spec ? { spec: withRequests(spec, requestFromV1) } : {}),
  }),
}

/** The spec of a template of claims, in either version. */
interface TemplateSpec<Request> extends Omit<v1.ResourceClaimTemplateSpec, 'spec'> {
  spec?: ClaimSpec<Request>
}

const withTemplateRequests = <From, To>(
  { spec, ...template }: TemplateSpec<From>,
  change: (request: From) => To,
): TemplateSpec<To> => ({ ...template, ...(spec ? { spec: withRequests(spec, change) } : {}) })

export const claimTemplatesV1beta1: VersionConversion<v1.ResourceClaimTemplate, v1beta1.ResourceClaimTemplate> = {
  toMemoryVersion: ({ spec, ...template }) => ({
    ...template,
    apiVersion: V1,
    ...(spec ? { spec: withTemplateRequests(spec, requestToV1) } : {}),
  }),
  fromMemoryVersion: ({ spec, ...template }) => ({
    ...template,
    apiVersion: V1BETA1,
    ...(spec ? { spec: withTemplateRequests(spec, requestFromV1) } : {}),
  }),
}

const deviceToV1 = ({ basic, ...device }: v1beta1.Device): v1.Device => ({ ...device, ...basic })

const deviceFromV1 = ({ name, ...basic }: v1.Device): v1beta1.Device => ({
  ...(name === undefined ? {} : { name }),
  basic,
})

export const slicesV1beta1: VersionConversion<v1.ResourceSlice, v1beta1.ResourceSlice> = {
  /** In v1 a node that is not named is absent, and so is `allNodes` when it is false. */
  toMemoryVersion: ({ spec, ...slice }) => {
    const { nodeName, allNodes, devices, ...rest } = spec ?? {}
    return {
      ...slice,
      apiVersion: V1,
      spec: {
        ...rest,
        ...(nodeName ? { nodeName } : {}),
        ...(allNodes === true ? { allNodes } : {}),
        ...(devices ? { devices: devices.map(deviceToV1) } : {}),
      },
    }
  },
  fromMemoryVersion: ({ spec, ...slice }) => {
    const { devices, ...rest } = spec ?? {}
    return {
      ...slice,
      apiVersion: V1BETA1,
      ...(spec ? { spec: { ...rest, ...(devices ? { devices: devices.map(deviceFromV1) } : {}) } } : {}),
    }
  },
}
