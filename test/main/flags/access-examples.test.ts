import { readFileSync } from 'node:fs'
import t from 'tap'
import { authenticationConfiguration } from '#keelson/auth/authn/authentication-configuration.js'
import { authorizationConfiguration } from '#keelson/auth/authz/authorization-configuration.js'

const DOCUMENT = readFileSync('docs/access-configuration.md', 'utf8')
const examples = [...DOCUMENT.matchAll(/```yaml\n([\s\S]*?)```/g)].map((match) => match[1]!)

t.test('the examples of the document are valid files', async (t) => {
  const ofKind = (kind: string): string[] => examples.filter((text) => text.includes(`kind: ${kind}\n`))
  const authentication = ofKind('AuthenticationConfiguration')
  t.equal(authentication.length, 1)
  for (const text of authentication) t.match(authenticationConfiguration(text, []), { jwt: [{}, {}], anonymous: {} })
  const authorization = ofKind('AuthorizationConfiguration')
  t.equal(authorization.length, 1)
  // The files that the example names are not on this machine; they are the only thing that is wrong with it.
  const named = /^authorizers\[\d\]\.webhook\.connectionInfo\.kubeConfigFile: .*ENOENT/
  for (const text of authorization)
    t.throws(() => authorizationConfiguration(text), { name: 'ConfigurationErrors', lines: [named, named] })
})
