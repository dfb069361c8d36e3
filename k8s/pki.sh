#!/usr/bin/env bash
# Makes what three servers must share: an authority, a serving certificate, a client certificate for an admin, the key that
# signs service-account tokens. Writes them into a folder, and with --apply puts them into the secret keelson-pki.
#   k8s/pki.sh FOLDER [--apply [NAMESPACE]]
set -euo pipefail
folder=${1:?"usage: k8s/pki.sh FOLDER [--apply [NAMESPACE]]"}
namespace=${3:-keelson}
umask 077
mkdir -p "$folder"
# kubectl is called from inside the folder, and from there a relative path leads elsewhere.
case "${KUBECONFIG:-/}" in /*) ;; *) export KUBECONFIG="$PWD/$KUBECONFIG" ;; esac
cd "$folder"

key() { [ -f "$1" ] || openssl ecparam -name prime256v1 -genkey -noout -out "$1"; }
key ca.key && key tls.key && key admin.key && key sa.key
openssl ec -in sa.key -pubout -out sa.pub 2>/dev/null
[ -f ca.crt ] || openssl req -x509 -new -key ca.key -subj /CN=keelson-ca -days 3650 -out ca.crt \
  -addext 'basicConstraints=critical,CA:TRUE' -addext 'keyUsage=critical,keyCertSign,cRLSign'

sign() { # name, subject, extensions
  openssl req -new -key "$1.key" -subj "$2" |
    openssl x509 -req -CA ca.crt -CAkey ca.key -CAcreateserial -days 365 -out "$1.crt" -extfile <(printf '%b' "$3") 2>/dev/null
}
names="DNS:localhost,IP:127.0.0.1,DNS:keelson,DNS:keelson.$namespace,DNS:keelson.$namespace.svc"
names="$names,DNS:keelson.$namespace.svc.cluster.local,DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc"
sign tls /CN=keelson "subjectAltName=$names\nextendedKeyUsage=serverAuth\nkeyUsage=digitalSignature\n"
sign admin /O=system:masters/CN=keelson-admin "extendedKeyUsage=clientAuth\nkeyUsage=digitalSignature\n"
echo "made $(pwd): ca, tls, admin, sa" >&2

if [ "${2:-}" = --apply ]; then
  kubectl --namespace "$namespace" create secret generic keelson-pki --dry-run=client -o yaml \
    --from-file=ca.crt --from-file=tls.crt --from-file=tls.key --from-file=sa.key --from-file=sa.pub | kubectl apply -f -
fi
