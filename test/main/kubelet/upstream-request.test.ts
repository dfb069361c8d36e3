import t from 'tap'
import { namesUsers } from '#keelson/main/kubelet/upstream-request.js'

t.test('headers that name users are known in every spelling that a server may read as the same', async (t) => {
  const isHidden = namesUsers({
    allowedNames: [],
    username: ['X-Remote-User', ' X_Own_User '],
    uid: [],
    group: ['x-remote-group'],
    extraPrefixes: ['X-Remote-Extra-'],
  })
  const hidden = ['x-remote-user', 'x_remote_user', 'x-remote_user', 'x-own-user', 'x_own_user', 'x_remote_group']
  for (const name of [...hidden, 'x-remote-extra-a', 'x_remote_extra_a', 'x-remote-extra_']) t.ok(isHidden(name), name)
  for (const name of ['x-remote-users', 'xremoteuser', 'x-remote', 'x-mine', 'x_mine']) t.notOk(isHidden(name), name)
  t.notOk(namesUsers(undefined)('x-remote-user'), 'without a front proxy there are none')
})
