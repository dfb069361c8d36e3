/** Thread: main. One entry of `jwt` in --authentication-config, and what is wrong with it. */
import { X509Certificate } from 'node:crypto'
import type { Environment } from '../../api/cel/environment.js'
import { parse } from '../../api/cel/parse/parser.js'
import { children, type Expression } from '../../api/cel/syntax.js'
import { BOOL, type CelType } from '../../api/cel/types.js'
import {
  duplicate,
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  OMITTED,
  required,
} from '../../api/field-error.js'
import { certificateBlocks } from '../../api/pem.js'
import { domainPrefixedPath } from '../../api/validation/checks.js'
import { trimEndOf } from '../../lib/trim-end.js'
import type {
  ClaimRule,
  ClaimSource,
  ExpressionRule,
  JwtAuthenticatorConfig,
  JwtIssuerConfig,
} from '../../protocol/server-credentials.js'
import { CLAIMS_ENVIRONMENT, compileConfigured, USER_ENVIRONMENT } from '../configuration-expression.js'
import type { ConfigurationObject } from '../configuration-object.js'
import { ASYMMETRIC_ALGORITHMS } from './jwt.js'

const BOTH = "claim and expression can't both be set"
const EITHER = 'claim or expression is required'

export function jwtConfiguration(
  entry: ConfigurationObject,
  ownIssuers: readonly string[],
  errors: FieldError[],
): JwtAuthenticatorConfig {
  const mappings = entry.part('claimMappings')
  const config: JwtAuthenticatorConfig = {
    issuer: issuerOf(entry.part('issuer'), ownIssuers, errors),
    signingAlgs: ASYMMETRIC_ALGORITHMS,
    claimValidationRules: claimRulesOf(entry, errors),
    username: prefixedSource(mappings.part('username'), true, errors) ?? { expression: '' },
    groups: prefixedSource(mappings.part('groups'), false, errors),
    uid: uidOf(mappings.part('uid'), errors),
    extra: extraOf(mappings, errors),
    userValidationRules: userRulesOf(entry, errors),
  }
  errors.push(...emailErrors(config, mappings.path.child('username', 'expression')))
  return config
}

function issuerOf(issuer: ConfigurationObject, ownIssuers: readonly string[], errors: FieldError[]): JwtIssuerConfig {
  const url = issuer.text('url')
  const discoveryUrl = issuer.text('discoveryURL')
  const ca = issuer.text('certificateAuthority')
  if (url === '') errors.push(required(issuer.path.child('url'), 'URL is required'))
  else errors.push(...urlErrors(url, issuer.path.child('url'), ownIssuers))
  if (discoveryUrl !== '') {
    const path = issuer.path.child('discoveryURL')
    if (trimEndOf(discoveryUrl, '/') === trimEndOf(url, '/'))
      errors.push(invalid(path, discoveryUrl, 'discoveryURL must be different from URL'))
    errors.push(...urlErrors(discoveryUrl, path, ownIssuers))
  }
  if (ca !== '' && !isCertificates(ca))
    errors.push(invalid(issuer.path.child('certificateAuthority'), OMITTED, 'it holds no certificates (PEM)'))
  // Accepting it would send requests another way than the operator means.
  if (issuer.text('egressSelectorType') !== '')
    errors.push(forbidden(issuer.path.child('egressSelectorType'), 'issuers are always reached directly'))
  return { url, discoveryUrl, ca, audiences: audiencesOf(issuer, errors) }
}

function urlErrors(text: string, path: FieldPath, ownIssuers: readonly string[]): FieldError[] {
  const wrong = (detail: string): FieldError => invalid(path, text, detail)
  const errors: FieldError[] = []
  if (ownIssuers.includes(text))
    errors.push(wrong(`URL must not overlap with disallowed issuers: [${[...ownIssuers].sort().join(' ')}]`))
  if (!URL.canParse(text)) return [...errors, wrong('it is no URL')]
  const { protocol, username, password, search, hash } = new URL(text)
  if (protocol !== 'https:') errors.push(wrong('URL scheme must be https'))
  if (username !== '' || password !== '') errors.push(wrong('URL must not contain a username or password'))
  if (search !== '') errors.push(wrong('URL must not contain a query'))
  if (hash !== '') errors.push(wrong('URL must not contain a fragment'))
  return errors
}

function isCertificates(pem: string): boolean {
  const blocks = certificateBlocks(pem)
  try {
    for (const block of blocks) new X509Certificate(block)
  } catch {
    return false
  }
  return blocks.length > 0
}

function audiencesOf(issuer: ConfigurationObject, errors: FieldError[]): readonly string[] {
  const audiences = issuer.texts('audiences')
  const path = issuer.path.child('audiences')
  const policy = issuer.text('audienceMatchPolicy')
  const policyPath = issuer.path.child('audienceMatchPolicy')
  if (audiences.length === 0) errors.push(required(path, `at least one ${path} is required`))
  if (audiences.length > 1 && policy !== 'MatchAny')
    errors.push(invalid(policyPath, policy, 'audienceMatchPolicy must be MatchAny for multiple audiences'))
  if (audiences.length === 1 && policy !== '' && policy !== 'MatchAny')
    errors.push(invalid(policyPath, policy, 'audienceMatchPolicy must be empty or MatchAny for single audience'))
  for (const [i, audience] of audiences.entries()) {
    if (audience === '') errors.push(required(path.index(i), "audience can't be empty"))
    else if (audiences.indexOf(audience) < i) errors.push(duplicate(path.index(i), audience))
  }
  return audiences
}

/** An expression in its place: what is wrong with it, unless it is empty. */
function expressionErrors(source: string, path: FieldPath, environment: Environment, wanted?: CelType): FieldError[] {
  const { error } = compileConfigured(source, environment, wanted)
  return error === '' ? [] : [invalid(path, source, error)]
}

function claimRulesOf(entry: ConfigurationObject, errors: FieldError[]): readonly ClaimRule[] {
  const seen = new Set<string>()
  return entry.objects('claimValidationRules').map((rule) => {
    const [claim, requiredValue] = [rule.text('claim'), rule.text('requiredValue')]
    const [expression, message] = [rule.text('expression'), rule.text('message')]
    const key = `${claim} ${expression}`
    if (claim !== '' && expression !== '') errors.push(invalid(rule.path, claim, BOTH))
    else if (claim === '' && expression === '') errors.push(required(rule.path, EITHER))
    else if (seen.has(key))
      errors.push(duplicate(rule.path.child(claim === '' ? 'expression' : 'claim'), claim || expression))
    else if (claim !== '') {
      if (message !== '')
        errors.push(invalid(rule.path.child('message'), message, "message can't be set when claim is set"))
    } else {
      if (requiredValue !== '')
        errors.push(
          invalid(rule.path.child('requiredValue'), requiredValue, "requiredValue can't be set when expression is set"),
        )
      errors.push(...expressionErrors(expression, rule.path.child('expression'), CLAIMS_ENVIRONMENT, BOOL))
    }
    seen.add(key)
    return claim === '' ? { expression, message } : { claim, requiredValue }
  })
}

/** Of a name or groups: a claim needs to say what is put before it, so that nobody forgets that names may clash. */
function prefixedSource(
  source: ConfigurationObject,
  isRequired: boolean,
  errors: FieldError[],
): ClaimSource | undefined {
  const [claim, expression, prefix] = [source.text('claim'), source.text('expression'), source.givenText('prefix')]
  const prefixPath = source.path.child('prefix')
  if (claim !== '' && expression !== '') errors.push(invalid(source.path, OMITTED, BOTH))
  if (expression !== '') {
    if (prefix !== undefined) errors.push(invalid(prefixPath, prefix, "prefix can't be set when expression is set"))
    errors.push(...expressionErrors(expression, source.path.child('expression'), CLAIMS_ENVIRONMENT))
    return { expression }
  }
  if (claim === '') {
    if (isRequired) errors.push(required(source.path, EITHER))
    if (prefix !== undefined)
      errors.push(required(source.path.child('claim'), 'non-empty claim name is required when prefix is set'))
    return undefined
  }
  if (prefix === undefined)
    errors.push(
      required(
        prefixPath,
        'prefix is required when claim is set. It can be set to an empty string to disable prefixing',
      ),
    )
  return { claim, prefix: prefix ?? '' }
}

function uidOf(source: ConfigurationObject, errors: FieldError[]): ClaimSource | undefined {
  const [claim, expression] = [source.text('claim'), source.text('expression')]
  if (claim !== '' && expression !== '') errors.push(invalid(source.path, OMITTED, BOTH))
  if (expression !== '') {
    errors.push(...expressionErrors(expression, source.path.child('expression'), CLAIMS_ENVIRONMENT))
    return { expression }
  }
  return claim === '' ? undefined : { claim, prefix: '' }
}

function extraOf(mappings: ConfigurationObject, errors: FieldError[]): JwtAuthenticatorConfig['extra'] {
  const seen = new Set<string>()
  return mappings.objects('extra').map((entry) => {
    const [key, valueExpression] = [entry.text('key'), entry.text('valueExpression')]
    errors.push(...extraKeyErrors(key, entry.path.child('key'), seen))
    seen.add(key)
    const path = entry.path.child('valueExpression')
    if (valueExpression === '') errors.push(required(path, 'valueExpression is required'))
    else errors.push(...expressionErrors(valueExpression, path, CLAIMS_ENVIRONMENT))
    return { key, valueExpression }
  })
}

const RESERVED_DOMAINS = ['k8s.io', 'kubernetes.io']

function extraKeyErrors(key: string, path: FieldPath, seen: ReadonlySet<string>): FieldError[] {
  if (key === '') return [required(path, 'key is required')]
  if (seen.has(key)) return [duplicate(path, key)]
  const errors = domainPrefixedPath(key, path)
  if (key !== key.toLowerCase()) errors.push(invalid(path, key, 'key must be lowercase'))
  const domain = key.slice(0, key.indexOf('/'))
  if (RESERVED_DOMAINS.some((one) => domain === one || domain.endsWith(`.${one}`)))
    errors.push(invalid(path, key, 'k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use'))
  return errors
}

function userRulesOf(entry: ConfigurationObject, errors: FieldError[]): readonly ExpressionRule[] {
  const seen = new Set<string>()
  return entry.objects('userValidationRules').map((rule) => {
    const [expression, message] = [rule.text('expression'), rule.text('message')]
    const path = rule.path.child('expression')
    if (expression === '') errors.push(required(path, 'expression is required'))
    else if (seen.has(expression)) errors.push(duplicate(path, expression))
    else errors.push(...expressionErrors(expression, path, USER_ENVIRONMENT, BOOL))
    seen.add(expression)
    return { expression, message }
  })
}

/** Whoever names users by an address must look somewhere whether it was verified. */
function emailErrors({ username, extra, claimValidationRules }: JwtAuthenticatorConfig, path: FieldPath): FieldError[] {
  if (!('expression' in username) || !uses(username.expression, 'email')) return []
  const others = [
    ...extra.map(({ valueExpression }) => valueExpression),
    ...claimValidationRules.flatMap((rule) => ('expression' in rule ? [rule.expression] : [])),
  ]
  if ([username.expression, ...others].some((source) => uses(source, 'email_verified'))) return []
  const places =
    'claimMappings.username.expression or claimMappings.extra[*].valueExpression or claimValidationRules[*].expression'
  return [
    invalid(
      path,
      username.expression,
      `claims.email_verified must be used in ${places} when claims.email is used in claimMappings.username.expression`,
    ),
  ]
}

/** Whether an expression reads `claims.name` or `claims.?name`. */
function uses(source: string, name: string): boolean {
  const { macros } = CLAIMS_ENVIRONMENT
  const parsed = parse(source, { macros, optionals: true })
  return !('errors' in parsed) && some(parsed.tree, (node) => isClaim(node, name))
}

function isClaim(node: Expression, name: string): boolean {
  const isClaims = (operand: Expression | undefined): boolean =>
    operand?.kind === 'identifier' && operand.name === 'claims'
  if (node.kind === 'select') return node.field === name && isClaims(node.operand)
  if (node.kind !== 'call' || node.name !== '_?._') return false
  const field = node.args[1]
  return isClaims(node.args[0]) && field?.kind === 'literal' && field.value === name
}

const some = (node: Expression, found: (node: Expression) => boolean): boolean =>
  found(node) || children(node).some((child) => some(child, found))
