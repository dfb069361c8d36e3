/** Thread: any. What this server says it is, at /version and in its metrics. */
import { KUBERNETES_VERSION } from '../../api/catalogue.js'

const [MAJOR = '', MINOR = ''] = KUBERNETES_VERSION.slice(1).split('.')

export const SERVER_VERSION = {
  major: MAJOR,
  minor: MINOR,
  gitVersion: `${KUBERNETES_VERSION}+keelson`,
  platform: `${process.platform}/${process.arch}`,
  goVersion: `node${process.version}`,
}
