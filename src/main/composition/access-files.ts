/** Thread: main. The step that keeps access by files: what they say while the server runs is in force in every thread. */
import { createHash } from 'node:crypto'
import { hostname } from 'node:os'
import { authenticationConfiguration } from '../../auth/authn/authentication-configuration.js'
import { authorizationConfiguration } from '../../auth/authz/authorization-configuration.js'
import { authFamilies } from '../../metrics/families.js'
import type { Family } from '../../metrics/family.js'
import { allowsEverything } from '../flags/access-config.js'
import { ConfigurationWatch, type ConfigurationWatchOptions } from '../flags/configuration-watch.js'
import type { ProcessParts } from './process-parts.js'
import type { StorageThreads } from './storage-threads.js'

export function keepAccessFiles(parts: ProcessParts, { access }: StorageThreads): void {
  const { config, credentialSource } = parts
  const { authenticationFile, serviceAccounts } = config.security
  let { everythingAllowed } = config.security
  let authentication = authenticationFile?.content
  // Whether anybody may be anonymous depends on both files.
  const changed = () => credentialSource.changedAuthentication(authentication, everythingAllowed)
  if (authenticationFile !== undefined) {
    keepFile(parts, [authFamilies.authenticationReloads, authFamilies.authenticationReloadTime], {
      ...authenticationFile,
      flag: 'authentication-config',
      parse: (text) => authenticationConfiguration(text, serviceAccounts.issuers),
      take: (content) => {
        authentication = content
        return access.change({ authentication: changed() })
      },
    })
  }
  if (config.authorizationFile !== undefined) {
    keepFile(parts, [authFamilies.authorizationReloads, authFamilies.authorizationReloadTime], {
      ...config.authorizationFile,
      flag: 'authorization-config',
      parse: authorizationConfiguration,
      take: (authorization) => {
        everythingAllowed = allowsEverything(authorization)
        return access.change({ authorization, authentication: changed() })
      },
    })
  }
}

type FileOptions<T> = Pick<ConfigurationWatchOptions<T>, 'flag' | 'file' | 'digest' | 'parse' | 'take'>

function keepFile<T>(parts: ProcessParts, [reloads, lastTime]: readonly [Family, Family], file: FileOptions<T>): void {
  const { metrics, clock, logger, lifecycle } = parts
  const watch = new ConfigurationWatch({
    ...file,
    onReload: (status) => {
      metrics.recorder.series(reloads, status, serverHash()).add(1)
      metrics.recorder.series(lastTime, status, serverHash()).set(clock.now() / 1000)
    },
    clock,
    logger,
  })
  lifecycle.own(`the file of --${file.flag}`, watch)
  watch.start()
}

/** Tells servers apart in metrics that several of them give. */
const serverHash = (): string => `sha256:${createHash('sha256').update(hostname()).digest('hex')}`
