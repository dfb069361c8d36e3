/** The flags of kube-apiserver v1.36.4 by name, with those that its help does not show. docs/flags.md has a row for each. */
import { readFileSync } from 'node:fs'

export const KUBE_APISERVER_FLAGS: readonly string[] = readFileSync('scripts/kube-apiserver-flags.txt', 'utf8')
  .trim()
  .split('\n')
