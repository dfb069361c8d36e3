/** Thread: main. The kubeconfig of the admin: the whole of it in one file, so that it can be copied. */
import { readFileSync } from 'node:fs'
import { ADMIN_NAME, type Pair } from './certificate-folder.js'

export interface AdminKubeconfigOptions {
  readonly server: string
  /** The authority of the server's certificate, or that certificate itself. */
  readonly authorityFile: string
  readonly admin: Pair
}

export function adminKubeconfig({ server, authorityFile, admin }: AdminKubeconfigOptions): string {
  const data = (file: string): string => readFileSync(file).toString('base64')
  return `apiVersion: v1
kind: Config
clusters:
- name: keelson
  cluster:
    server: ${server}
    certificate-authority-data: ${data(authorityFile)}
users:
- name: ${ADMIN_NAME}
  user:
    client-certificate-data: ${data(admin.certFile)}
    client-key-data: ${data(admin.keyFile)}
contexts:
- name: ${ADMIN_NAME}@keelson
  context:
    cluster: keelson
    user: ${ADMIN_NAME}
current-context: ${ADMIN_NAME}@keelson
`
}
