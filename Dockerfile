# syntax=docker/dockerfile:1
# Built from the sources, run from the bundle; what is only needed for building stays behind.
# 22: the newest Node for which uWebSockets.js has a binary on Debian 12 (docs/adr/0023-http-engines.md says what that gives, and what was tested).
FROM node:22-bookworm-slim AS build
WORKDIR /src
COPY package.json package-lock.json .npmrc tsconfig.base.json ./
RUN npm ci --no-audit --no-fund
COPY scripts scripts
COPY src src
RUN node scripts/bundle.mjs && npm prune --omit=dev --no-save --no-audit --no-fund

FROM node:22-bookworm-slim
LABEL org.opencontainers.image.title="Keelson" \
      org.opencontainers.image.description="A Kubernetes-compatible API server for Node.js" \
      org.opencontainers.image.licenses="Apache-2.0"
RUN groupadd --gid 10001 keelson && useradd --uid 10001 --gid 10001 --no-create-home --shell /usr/sbin/nologin keelson \
    && install -d -o 10001 -g 10001 -m 0700 /var/lib/keelson
WORKDIR /opt/keelson
COPY --from=build /src/node_modules node_modules
COPY --from=build /src/bundle bundle
COPY package.json LICENSE ./
ENV NODE_ENV=production
USER 10001:10001
VOLUME /var/lib/keelson
EXPOSE 6443
# The root may be read-only: everything that is written goes to --data-dir and --cert-dir.
ENTRYPOINT ["node", "/opt/keelson/bundle/main/index.js"]
CMD ["--bind-address=0.0.0.0", "--data-dir=/var/lib/keelson/data", "--cert-dir=/var/lib/keelson/certs"]
