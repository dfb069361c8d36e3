import type { KeelsonProcess } from '../support/keelson-process.js'

const REGISTRATION = '/apis/admissionregistration.k8s.io/v1'
const MERGE = { 'content-type': 'application/merge-patch+json' }
const RULE = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }
/** Nobody listens there, so a webhook that is in force refuses at once. */
const NOWHERE = 'https://127.0.0.1:1/'

export interface Switch {
  readonly name: string
  /** Brings the rule into force, or out of it; gives the status of the write's answer. */
  set(refuse: boolean): Promise<number>
}

async function make(server: KeelsonProcess, path: string, object: object): Promise<void> {
  const { status, text } = await server.request('POST', path, object)
  if (status !== 201) throw new Error(text)
}

const patch = async (server: KeelsonProcess, path: string, change: object): Promise<number> =>
  (await server.request('PATCH', path, change, MERGE)).status

/** A validating policy that is switched by its expression. */
export async function policySwitch(server: KeelsonProcess): Promise<Switch> {
  const metadata = { name: 'switched' }
  await make(server, `${REGISTRATION}/validatingadmissionpolicies`, {
    kind: 'ValidatingAdmissionPolicy',
    apiVersion: 'admissionregistration.k8s.io/v1',
    metadata,
    spec: { matchConstraints: { resourceRules: [RULE] }, validations: [{ expression: 'true' }] },
  })
  await make(server, `${REGISTRATION}/validatingadmissionpolicybindings`, {
    kind: 'ValidatingAdmissionPolicyBinding',
    apiVersion: 'admissionregistration.k8s.io/v1',
    metadata,
    spec: { policyName: 'switched', validationActions: ['Deny'] },
  })
  return {
    name: 'a policy',
    set: (refuse) =>
      patch(server, `${REGISTRATION}/validatingadmissionpolicies/switched`, {
        spec: { validations: [{ expression: refuse ? 'false' : 'true' }] },
      }),
  }
}

export async function webhookSwitch(server: KeelsonProcess): Promise<Switch> {
  const path = `${REGISTRATION}/validatingwebhookconfigurations`
  const webhooks = (resources: string[]) => [
    {
      name: 'switched.example.com',
      clientConfig: { url: NOWHERE },
      rules: [{ ...RULE, resources }],
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
    },
  ]
  await make(server, path, {
    kind: 'ValidatingWebhookConfiguration',
    apiVersion: 'admissionregistration.k8s.io/v1',
    metadata: { name: 'switched' },
    webhooks: webhooks(['secrets']),
  })
  return {
    name: 'a webhook configuration',
    set: (refuse) => patch(server, `${path}/switched`, { webhooks: webhooks([refuse ? 'configmaps' : 'secrets']) }),
  }
}

/** Creates as many objects at once as there are pool threads and more; gives how many were refused. */
export async function refused(server: KeelsonProcess, count: number): Promise<number> {
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'c' } }
  const answers = await Promise.all(
    Array.from({ length: count }, () =>
      server.request('POST', '/api/v1/namespaces/default/configmaps?dryRun=All', object),
    ),
  )
  return answers.filter(({ status }) => status !== 201).length
}

/**
 * Switches a rule on and off; after each switch several requests begin at once. Gives how many of them were answered as before the
 * switch.
 */
export async function alternate(server: KeelsonProcess, rule: Switch, times: number): Promise<number> {
  const atOnce = 4
  let wrong = 0
  for (let i = 0; i < times; i++) {
    const refuse = i % 2 === 0
    const status = await rule.set(refuse)
    if (status !== 200) throw new Error(`${rule.name} could not be switched: ${status}`)
    wrong += Math.abs((await refused(server, atOnce)) - (refuse ? atOnce : 0))
  }
  return wrong
}
