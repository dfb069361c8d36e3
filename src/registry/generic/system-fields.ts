/** Thread: pool. The metadata that the server alone sets. */
import { randomUUID } from 'node:crypto'
import { type KubeObject, metadataOf } from '../../api/object.js'
import { newBadRequest } from '../../api/status.js'

/** Random suffixes leave out vowels and what reads like them, so that no words come out. */
const SUFFIX_ALPHABET = 'bcdfghjklmnpqrstvwxz2456789'
const SUFFIX_LENGTH = 5
const MAX_GENERATED_NAME_LENGTH = 63

/** A time in RFC 3339 with seconds, as Kubernetes writes it. */
export const formatTime = (milliseconds: number): string => `${new Date(milliseconds).toISOString().slice(0, 19)}Z`

export function fillSystemFields(object: KubeObject, nowMs: number): void {
  const metadata = metadataOf(object)
  metadata.creationTimestamp = formatTime(nowMs)
  metadata.uid = randomUUID()
}

/** Takes out what a client may have copied from another object and must not carry into a new one. */
export function wipeSystemFields(object: KubeObject): void {
  const metadata = metadataOf(object)
  delete metadata.creationTimestamp
  delete metadata.uid
  delete metadata.deletionTimestamp
  delete metadata.deletionGracePeriodSeconds
  delete metadata.selfLink
}

export function generateName(base: string, random: () => number = Math.random): string {
  let suffix = ''
  for (let i = 0; i < SUFFIX_LENGTH; i++) suffix += SUFFIX_ALPHABET[Math.floor(random() * SUFFIX_ALPHABET.length)]
  return base.slice(0, MAX_GENERATED_NAME_LENGTH - SUFFIX_LENGTH) + suffix
}

/** The namespace of the path is the object's; an object that names another one is refused. */
export function ensureNamespace(object: KubeObject, requestNamespace: string, namespaceScoped: boolean): void {
  const metadata = metadataOf(object)
  const expected = namespaceScoped ? requestNamespace : ''
  const given = metadata.namespace ?? ''
  if (given === expected) return
  if (given === '') metadata.namespace = expected
  else if (expected === '') delete metadata.namespace
  else throw newBadRequest('the namespace of the provided object does not match the namespace sent on the request')
}
