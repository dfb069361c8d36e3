/** Access by files: an issuer of tokens, configured by --authentication-config and changed while the server runs. */
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { AdminClient } from '../support/admin-client.js'
import { TestAuthority } from '../support/certificates.js'
import { JwtIssuer } from '../support/jwt-issuer.js'
import { KeelsonProcess } from '../support/keelson-process.js'
import { temporaryFolder } from '../support/temporary-folder.js'
import { until } from '../support/until.js'

const HEAD = { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'AuthenticationConfiguration' }
const RELOADS = 'apiserver_authentication_config_controller_automatic_reloads_total'
const LOOK_AGAIN_MS = 100
const WHO = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
const REVIEW = '/apis/authentication.k8s.io/v1/tokenreviews'

t.test('a wrong file is refused at the start', async (t) => {
  const file = path.join(temporaryFolder(t, 'access'), 'authentication.yaml')
  writeFileSync(file, JSON.stringify({ ...HEAD, jwt: [{ issuer: { url: 'http://a.example' } }] }))
  await t.rejects(KeelsonProcess.start([`--authentication-config=${file}`]), {
    message: /jwt\[0\]\.issuer\.url: Invalid value: "http:\/\/a\.example": URL scheme must be https/,
  })
})

t.test('issuers and anonymous paths by file, changed while the server runs', async (t) => {
  const authority = await TestAuthority.create()
  const [first, second] = await Promise.all([JwtIssuer.start(authority), JwtIssuer.start(authority)])
  t.teardown(() => Promise.all([first.close(), second.close()]))
  const file = path.join(temporaryFolder(t, 'access'), 'authentication.yaml')
  const entry = (issuer: JwtIssuer, username: object) => ({
    issuer: { url: issuer.url, certificateAuthority: authority.certificate, audiences: ['keelson'] },
    claimMappings: { username, groups: { expression: "has(claims.teams) ? claims.teams.split(',') : []" } },
    userValidationRules: [{ expression: "!user.username.startsWith('system:')", message: 'the name is reserved' }],
  })
  const one = entry(first, { claim: 'sub', prefix: 'first:' })
  const two = entry(second, { expression: "'second:' + claims.sub" })
  const write = (content: object): void => writeFileSync(file, JSON.stringify({ ...HEAD, ...content }))
  write({ jwt: [one], anonymous: { enabled: true, conditions: [{ path: '/livez' }] } })
  const server = await KeelsonProcess.start([`--authentication-config=${file}`], undefined, { tls: true })
  t.teardown(() => server.close())
  const [anybody, admin] = [new AdminClient(server, 'anonymous'), new AdminClient(server)]
  t.teardown(() => [anybody, admin].map((client) => client.close()))
  const ask = (token: string) =>
    anybody.request('POST', WHO, {}, token === '' ? {} : { authorization: `Bearer ${token}` })
  const userOf = async (token: string) => {
    const { status, json } = await ask(token)
    return status === 201 ? (json as { status: { userInfo: object } }).status.userInfo : status
  }
  const reviewed = async (token: string) => {
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token } }
    return (
      ((await admin.request('POST', REVIEW, body)).json as { status: { authenticated?: boolean } }).status
        .authenticated === true
    )
  }
  const reloaded = (status: string, times: number) =>
    until(
      async () => {
        // The text of all metrics is long: asking for it all the time would slow down what is waited for.
        await sleep(LOOK_AGAIN_MS)
        const { text } = await admin.request('GET', '/metrics')
        return new RegExp(`^${RELOADS}\\{status="${status}".* ${times}$`, 'm').test(text)
      },
      { what: `${times} reloads with ${status}` },
    )

  const jane = first.token({ sub: 'jane', teams: 'dev,ops' })
  t.match(await userOf(jane), { username: 'first:jane', groups: ['dev', 'ops', 'system:authenticated'] })
  t.ok(await reviewed(jane), 'threads of the pool judge by the same file')
  t.equal(await userOf(second.token({ sub: 'joe' })), 401, 'nobody has heard of this issuer yet')
  t.equal(await userOf(first.token({ sub: 'jane', aud: 'other' })), 401)
  t.equal(await userOf(first.token({ sub: 'x', fill: 'x'.repeat(10_000) })).then((user) => typeof user), 'object')
  t.equal((await anybody.request('GET', '/livez')).status, 200)
  t.equal((await anybody.request('GET', '/version')).status, 401, 'anonymous requests are for the named paths only')

  write({ jwt: [two] })
  const joe = second.token({ sub: 'joe' })
  await reloaded('success', 1)
  t.match(await userOf(joe), { username: 'second:joe' })
  t.equal(await userOf(jane), 401, 'a token that was good a moment ago is not, when its issuer is gone')
  t.notOk(await reviewed(jane))
  t.ok(await reviewed(joe))
  t.equal((await anybody.request('GET', '/version')).status, 200, 'without the field the flag decides')

  write({ jwt: [{ ...one, claimMappings: {} }] })
  await reloaded('failure', 1)
  t.match(await userOf(joe), { username: 'second:joe' }, 'a wrong file changes nothing')
  t.equal(await userOf(jane), 401)

  write({ jwt: [one, two] })
  await reloaded('success', 2)
  t.match([await userOf(jane), await userOf(joe)], [{ username: 'first:jane' }, { username: 'second:joe' }])
  second.rotate()
  const later = second.token({ sub: 'joe' })
  await until(async () => (await userOf(later)) !== 401, { what: 'the new key to be fetched' })
  t.match(await userOf(later), { username: 'second:joe' })
})
