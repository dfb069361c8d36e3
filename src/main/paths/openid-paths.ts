/** Thread: main, or a front end's own. What others need to verify service-account tokens: the issuer's document and its keys. */
import { acceptsType, notAcceptable } from '../../api/media-type.js'
import { jwkOf } from '../../auth/authn/jwt.js'
import { verificationKeys } from '../../auth/authn/service-account-tokens.js'
import type { ServiceAccountTokenConfig } from '../../protocol/server-credentials.js'
import type { NonResourcePaths } from './non-resource-paths.js'

const JWKS_PATH = '/openid/v1/jwks'
const JWKS_TYPE = 'application/jwk-set+json'
const JSON_TYPE = 'application/json'
const CACHE = ['Cache-Control', 'public, max-age=3600']

export function installOpenIdPaths(
  paths: NonResourcePaths,
  config: ServiceAccountTokenConfig,
  address: () => string,
): void {
  const { publicKeys, signingKey, issuers, jwksUri } = config
  const keys = verificationKeys(publicKeys.length === 0 ? [signingKey] : publicKeys)
  const keySet = JSON.stringify({ keys: keys.map(jwkOf) })
  const algorithms = [...new Set(keys.map(({ algorithms: [first = ''] }) => first))].sort()
  const document = (): string =>
    JSON.stringify({
      issuer: issuers[0],
      jwks_uri: jwksUri === '' ? `https://${address()}${JWKS_PATH}` : jwksUri,
      response_types_supported: ['id_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: algorithms,
    })
  serve(paths, '/.well-known/openid-configuration', JSON_TYPE, document)
  serve(paths, JWKS_PATH, JWKS_TYPE, () => keySet)
}

function serve(paths: NonResourcePaths, path: string, type: string, body: () => string): void {
  paths.exact(path, (exchange) => {
    if (!acceptsType(exchange.head.accept, type)) throw notAcceptable(type)
    exchange.respond({ status: 200, contentType: type, headers: CACHE }, body())
    return undefined
  })
}
