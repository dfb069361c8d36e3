/** Thread: any. Roles in the system's namespaces, and who has the roles that are there from the start. */

export const NAMESPACE_ROLES = `
kube-public/system:controller:bootstrap-signer
  get,list,watch core configmaps
  update core configmaps cluster-info
  create,patch,update core,events.k8s.io events
kube-system/extension-apiserver-authentication-reader
  get,list,watch core configmaps extension-apiserver-authentication
kube-system/system::leader-locking-kube-controller-manager
  create,get,list,update,watch coordination.k8s.io leases
  create,get,list,update,watch coordination.k8s.io leasecandidates
kube-system/system::leader-locking-kube-scheduler
  create,get,list,update,watch coordination.k8s.io leases
  create,get,list,update,watch coordination.k8s.io leasecandidates
kube-system/system:controller:bootstrap-signer
  get,list,watch core secrets
kube-system/system:controller:cloud-provider
  create,get,list,watch core configmaps
kube-system/system:controller:token-cleaner
  delete,get,list,watch core secrets
  create,patch,update core,events.k8s.io events
`

/** One binding a line: its name, the role, and who has it. */
export const NAMESPACE_ROLE_BINDINGS = `
kube-public/system:controller:bootstrap-signer system:controller:bootstrap-signer account:kube-system/bootstrap-signer
kube-system/system::extension-apiserver-authentication-reader extension-apiserver-authentication-reader user:system:kube-controller-manager user:system:kube-scheduler
kube-system/system::leader-locking-kube-controller-manager system::leader-locking-kube-controller-manager user:system:kube-controller-manager account:kube-system/kube-controller-manager account:kube-system/leader-election-controller
kube-system/system::leader-locking-kube-scheduler system::leader-locking-kube-scheduler user:system:kube-scheduler account:kube-system/kube-scheduler
kube-system/system:controller:bootstrap-signer system:controller:bootstrap-signer account:kube-system/bootstrap-signer
kube-system/system:controller:cloud-provider system:controller:cloud-provider account:kube-system/cloud-provider
kube-system/system:controller:token-cleaner system:controller:token-cleaner account:kube-system/token-cleaner
`

export const CLUSTER_ROLE_BINDINGS = `
cluster-admin cluster-admin group:system:masters
system:basic-user system:basic-user group:system:authenticated
system:discovery system:discovery group:system:authenticated
system:kube-controller-manager system:kube-controller-manager user:system:kube-controller-manager
system:kube-dns system:kube-dns account:kube-system/kube-dns
system:kube-scheduler system:kube-scheduler user:system:kube-scheduler
system:monitoring system:monitoring group:system:monitoring
system:node system:node
system:node-proxier system:node-proxier user:system:kube-proxy
system:public-info-viewer system:public-info-viewer group:system:authenticated group:system:unauthenticated
system:service-account-issuer-discovery system:service-account-issuer-discovery group:system:serviceaccounts
system:volume-scheduler system:volume-scheduler user:system:kube-scheduler
`
