import t from 'tap'
import { privilegedContainerErrors } from '#keelson/registry/generic/privileged-containers.js'

const container = (privileged?: boolean) => ({
  name: 'c',
  ...(privileged === undefined ? {} : { securityContext: { privileged } }),
})

t.test('each container that asks to be privileged is named', async (t) => {
  const object = {
    spec: {
      containers: [container(), container(true)],
      initContainers: [container(false), container(true)],
      ephemeralContainers: [container(true)],
    },
  }
  t.same(
    privilegedContainerErrors(object, ['spec']).map(({ type, field }) => [type, field]),
    [
      ['FieldValueForbidden', 'spec.containers[1].securityContext.privileged'],
      ['FieldValueForbidden', 'spec.initContainers[1].securityContext.privileged'],
      ['FieldValueForbidden', 'spec.ephemeralContainers[0].securityContext.privileged'],
    ],
  )
  t.same(privilegedContainerErrors({ spec: { containers: [container()] } }, ['spec']), [])
  t.same(privilegedContainerErrors({}, ['spec', 'template', 'spec']), [])
})
