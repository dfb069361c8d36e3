import t from 'tap'
import { recordedSuiteNames } from '../support/recordings/recording.js'
import { replaySuite } from './offline-replay.js'

/** Kinds whose recorded answers are not the rules' alone to give, and who else has a hand in them. */
const NOT_RULES_ALONE: readonly RegExp[] = [
  // A PUT without a resource version: the store refuses it before the rules are asked.
  /^edit-(admissionregistration|coordination|node|storage)\./,
  // Long certificates are hidden in the recordings.
  /^vary-(admissionregistration\.k8s\.io\.v1\.(mutating|validating)webhook|apiextensions|apiregistration)/,
  // Admission: who asks, taints of new nodes, finalizers, administrators' access to devices.
  /certificatesigningrequests|v1\.nodes|persistentvolume|volumeattributesclasses|resourceclaimtemplates/,
  // A warning about the kind itself comes from the endpoint.
  /v1\.endpoints/,
  // Null in a map of bytes and an empty list are what they are only after a round through the codec.
  /v1\.(configmaps|secrets)|csinodes/,
  // The time of a taint, which differs from second to second.
  /edit-resource\.k8s\.io\.v1\.resourceslices/,
]

t.test('the rules answer as the recorded server did', async (t) => {
  const names = recordedSuiteNames(/^(vary|edit)-/)
  for (const name of names.filter((one) => !NOT_RULES_ALONE.some((others) => others.test(one)))) {
    const { steps, misses } = replaySuite(name)
    t.ok(steps > 20, `${name}: ${steps} answers`)
    t.same(misses, [], `${name}: every one is right`)
  }
})
