import { writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { complete } from '#keelson/main/flags/config.js'
import { parseFlags } from '#keelson/main/flags/flags.js'
import { FLAGS } from '#keelson/main/flags/options.js'
import { temporaryFolder } from '../../support/temporary-folder.js'

function completed(...argv: string[]) {
  const { values, given, errors } = parseFlags(['--data-dir=memory', ...argv], FLAGS)
  if (errors.length > 0) throw new Error(errors.join())
  return complete(values, given)
}

const errorsOf = (...argv: string[]): readonly string[] => {
  const result = completed(...argv)
  return 'errors' in result ? result.errors : []
}

t.test('a file of authentication and the flags that it stands for exclude each other', async (t) => {
  const file = path.join(temporaryFolder(t, 'access'), 'authentication.yaml')
  const flag = `--authentication-config=${file}`
  const write = (more: string): void =>
    writeFileSync(file, `apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\n${more}`)
  t.match(errorsOf(flag), [/--authentication-config: there is no file/])
  write('anonymous: {enabled: false}')
  t.same(errorsOf(flag), [])
  t.match(errorsOf(flag, '--anonymous-auth=true'), [
    /--anonymous-auth and the field anonymous of .* exclude each other/,
  ])
  t.match(errorsOf(flag, '--oidc-issuer-url=https://a.example', '--oidc-client-id=a'), [
    '--authentication-config and --oidc-issuer-url, --oidc-client-id exclude each other',
  ])
  write('')
  t.same(errorsOf(flag, '--anonymous-auth=false'), [], 'a file that says nothing of it leaves it to the flag')
  write('jwt: [{issuer: {url: "https://kubernetes.default.svc"}}]')
  t.match(errorsOf(flag), [
    new RegExp(`--authentication-config: ${file}: jwt\\[0\\].issuer.url: .*disallowed issuers`),
    /audiences: Required value/,
    /claimMappings.username: Required value/,
  ])
})

t.test('a file of authorization and the flags that it stands for exclude each other', async (t) => {
  const file = path.join(temporaryFolder(t, 'access'), 'authorization.yaml')
  const flag = `--authorization-config=${file}`
  const write = (more: string): void =>
    writeFileSync(file, `apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration\n${more}`)
  write('authorizers: [{type: Node, name: node}, {type: RBAC, name: rbac}]')
  const result = completed(flag)
  t.match('config' in result && result.config.authorization, { authorizers: [{ type: 'Node' }, { type: 'RBAC' }] })
  t.match(errorsOf(flag, '--authorization-mode=RBAC'), [
    '--authorization-config and --authorization-mode exclude each other',
  ])
  t.match(errorsOf(flag, '--authorization-webhook-version=v1'), [/--authorization-webhook-version exclude each other/])
  write('authorizers: []')
  t.match(errorsOf(flag), [/authorization.yaml: authorizers: Required value: at least one/])
})

t.test('the flags of OpenID Connect are one issuer', async (t) => {
  const oidc = ['--oidc-issuer-url=https://a.example', '--oidc-client-id=a', '--oidc-required-claim=hd=x']
  const issuerOf = (...more: string[]) => {
    const result = completed(...oidc, ...more)
    return 'config' in result ? result.config.security.oidc : undefined
  }
  t.match(issuerOf('--oidc-groups-claim=g'), {
    issuer: { url: 'https://a.example', audiences: ['a'] },
    claimValidationRules: [{ claim: 'hd', requiredValue: 'x' }],
    username: { claim: 'sub', prefix: 'https://a.example#' },
    groups: { claim: 'g', prefix: '' },
    signingAlgs: ['RS256'],
  })
  t.match(issuerOf('--oidc-username-claim=email')?.username, { claim: 'email', prefix: '' })
  t.match(issuerOf('--oidc-username-prefix=-')?.username, { claim: 'sub', prefix: '' })
})
