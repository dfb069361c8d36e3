/** The custom resource that is measured: 20 KB of schema with 60 objects in it, and an object of 12.8 KB that has all of them. */

const GROUPS = 50
const PARTS = 60
const WORDS = 'What this part of the thing is for, and what happens when it is changed while it is in use. '

const partNames = Array.from({ length: PARTS }, (_, i) => `part${i}`)

export function definition(i: number): { readonly name: string; readonly path: string; readonly body: object } {
  const group = `g${i % GROUPS}.bench.example.com`
  const plural = `thing${i}s`
  const part = {
    type: 'object',
    description: WORDS.repeat(2),
    properties: {
      name: { type: 'string', maxLength: 256, description: 'The name of it.' },
      count: { type: 'integer', minimum: 0, default: 1 },
      on: { type: 'boolean' },
    },
  }
  const spec = { type: 'object', properties: Object.fromEntries(partNames.map((name) => [name, part])) }
  const name = `${plural}.${group}`
  return {
    name,
    path: `/apis/${group}/v1/namespaces/default/${plural}`,
    body: {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name },
      spec: {
        group,
        scope: 'Namespaced',
        names: { plural, kind: `Thing${i}`, singular: `thing${i}`, listKind: `Thing${i}List` },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            subresources: { status: {} },
            schema: {
              openAPIV3Schema: {
                type: 'object',
                properties: { spec, status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
              },
            },
          },
        ],
      },
    },
  }
}

export const CREATED = JSON.stringify({
  apiVersion: 'g0.bench.example.com/v1',
  kind: 'Thing0',
  metadata: { generateName: 'thing-' },
  spec: Object.fromEntries(partNames.map((name) => [name, { name: 'x'.repeat(130), count: 7, on: true }])),
})
