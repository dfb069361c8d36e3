/** Thread: pool. A user as reviews show it: without what is empty. */
import type { UserInfo } from '../../api/user-info.js'

export function shownUser({ name, uid, groups, extra }: UserInfo): object {
  return {
    ...(name === '' ? {} : { username: name }),
    ...(uid === '' ? {} : { uid }),
    ...(groups.length === 0 ? {} : { groups: [...groups] }),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  }
}
