/** Thread: any. Who makes a request, as authentication found out. */
export interface UserInfo {
  readonly name: string
  readonly uid: string
  readonly groups: readonly string[]
  readonly extra: Readonly<Record<string, readonly string[]>>
}

/** The server itself, as it makes requests of its own: kube-apiserver's loopback user. */
export const API_SERVER_USER: UserInfo = {
  name: 'system:apiserver',
  uid: '',
  groups: ['system:masters', 'system:authenticated'],
  extra: {},
}
