/** Thread: any. Names of images, as far as they decide when to pull. */

const NAME = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*$/
const DOMAIN =
  /^(?:[a-zA-Z0-9]|[a-zA-Z0-9][-a-zA-Z0-9]*[a-zA-Z0-9])(?:\.(?:[a-zA-Z0-9]|[a-zA-Z0-9][-a-zA-Z0-9]*[a-zA-Z0-9]))*(?::[0-9]+)?$|^\[[a-fA-F0-9:]+\](?::[0-9]+)?$/
const TAG = /^\w[\w.-]{0,127}$/
const DIGEST = /^[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}$/

const MAX_NAME = 255

/** The tag of an image: `latest` when neither a tag nor a digest is there, nothing when the name is none. */
export function imageTag(image: string): string {
  const [reference, digest] = splitDigest(image)
  const slash = reference.lastIndexOf('/')
  const colon = reference.indexOf(':', slash + 1)
  const tag = colon < 0 ? '' : reference.slice(colon + 1)
  const name = colon < 0 ? reference : reference.slice(0, colon)
  if (
    name.length > MAX_NAME ||
    !isName(name) ||
    (colon >= 0 && !TAG.test(tag)) ||
    (digest !== undefined && !DIGEST.test(digest))
  )
    return ''
  return tag === '' && digest === undefined ? 'latest' : tag
}

function splitDigest(image: string): [string, string | undefined] {
  const at = image.indexOf('@')
  return at < 0 ? [image, undefined] : [image.slice(0, at), image.slice(at + 1)]
}

function isName(name: string): boolean {
  const slash = name.indexOf('/')
  const first = slash < 0 ? '' : name.slice(0, slash)
  const isDomain = /[.:]/.test(first) || first === 'localhost' || first.toLowerCase() !== first
  return isDomain ? DOMAIN.test(first) && NAME.test(name.slice(slash + 1)) : NAME.test(name)
}
