import t from 'tap'
import { makeCertificate } from '#keelson/main/certificates/certificate.js'
import { trustedByCluster } from '#keelson/main/certificates/cluster-trust.js'
import { clusterTrustConfig, DELEGATION_FLAGS, delegationErrors } from '#keelson/main/flags/delegation-options.js'

const values = (given: Record<string, string>): ReadonlyMap<string, string> =>
  new Map([...DELEGATION_FLAGS.map((flag) => [flag.name, flag.default] as const), ...Object.entries(given)])

t.test('flags that contradict each other are refused with a word about each', async (t) => {
  t.same(delegationErrors(values({})), [])
  t.same(delegationErrors(values({ 'authentication-kubeconfig': 'a', 'authorization-kubeconfig': 'a' })), [])
  const errors = delegationErrors(
    values({
      'authentication-kubeconfig': 'a',
      'authentication-token-webhook-config-file': 'b',
      'insecure-http': 'true',
      'authorization-kubeconfig': 'a',
      'authorization-webhook-config-file': 'b',
      'authorization-always-allow-paths': '/healthz,metrics,/a*b',
    }),
  )
  t.equal(errors.length, 5)
  t.match(delegationErrors(values({ 'authentication-skip-lookup': 'true' })), [/needs --authentication-kubeconfig/])
})

t.test('what flags give is not looked up', async (t) => {
  t.equal(clusterTrustConfig(values({})), undefined)
  t.equal(
    clusterTrustConfig(values({ 'authentication-kubeconfig': '/a', 'authentication-skip-lookup': 'true' })),
    undefined,
  )
  t.match(clusterTrustConfig(values({ 'authentication-kubeconfig': '/a', 'client-ca-file': 'c' })), {
    kubeconfigFile: '/a',
    wantsClientCa: false,
    wantsFrontProxy: true,
  })
})

t.test('a ConfigMap without user headers names no front proxy; authorities that are none are refused', async (t) => {
  const life = { notBeforeMs: 0, notAfterMs: Date.now() + 60_000 }
  const { certificate } = makeCertificate({ commonName: 'a', use: 'authority', ...life })
  t.same(trustedByCluster({ 'requestheader-client-ca-file': certificate }).frontProxy, undefined)
  const found = trustedByCluster({
    'client-ca-file': certificate,
    'requestheader-client-ca-file': certificate,
    'requestheader-username-headers': '["X-Remote-User"]',
    'requestheader-allowed-names': '["proxy"]',
  })
  t.equal(found.clientCa, certificate)
  t.match(found.frontProxy?.headers, { username: ['X-Remote-User'], allowedNames: ['proxy'], uid: [] })
  t.throws(() => trustedByCluster({ 'client-ca-file': 'nothing' }), /no certificate/)
  t.throws(() => trustedByCluster({ 'requestheader-username-headers': '{}' }), /no list/)
})
