# syntax=docker/dockerfile:1
#
#   docker build -t driver-sync .
#   docker run --read-only --tmpfs /tmp \
#     -v /etc/driver-sync:/etc/driver-sync:ro -v /srv/exports:/srv/exports:ro -v driver-sync:/var/lib/driver-sync driver-sync
#
# The config must say `state: /var/lib/driver-sync`, and the exports must be readable by user 65532.
#
# test/machine/image builds it without a container engine and runs a sync in it.

FROM node:24-slim AS build
WORKDIR /app
# No install scripts: SQLite's binding comes prebuilt in its package, and the only script there is would fetch the Node
# that a checkout uses (devDependency `node`), which this image has already.
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json rolldown.config.ts ./
COPY src ./src
# Without what only development needs, and with what the package leaves to whoever uses it: the clients of databases and of SFTP
# and, for the agent tools of the emulator, an OAuth server and its protocol.
RUN npm run build \
  && npm pkg delete devDependencies peerDependencies peerDependenciesMeta \
  && npm install --ignore-scripts pg@8 mysql2@3 @clickhouse/client@1 ssh2@1 \
    @modelcontextprotocol/server@2 oidc-provider@9 fetch-to-node@2

FROM node:24-slim AS runtime
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY package.json LICENSE ./
COPY bin ./bin
# A new volume takes over the owner and the mode of the folder it is mounted on.
RUN install -d -o 65532 -g 65532 -m 0700 /var/lib/driver-sync
VOLUME /var/lib/driver-sync
USER 65532:65532

# The emulator alone, for tests and for pages that want a service:
#
#   docker build --target emulator -t driver-sync-emulator .
#   docker run -p 127.0.0.1:8787:8787 driver-sync-emulator
#
# Options take the place of the last line: `driver-sync-emulator --listen 0.0.0.0:8787 --state /var/lib/driver-sync`.
FROM runtime AS emulator
EXPOSE 8787
HEALTHCHECK --interval=5s --timeout=3s --start-period=10s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:8787/_emulator/health').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "/app/bin/driver-sync.js", "emulator"]
CMD ["--listen", "0.0.0.0:8787"]

FROM runtime
ENV DRIVER_SYNC_CONFIG=/etc/driver-sync/config.yaml
# 0 only while the daemon's loop moves, on the state that the config names or on the volume: a config that is half written, or away for a
# moment, is no reason to start it anew. Generous at the start: a first read of large files takes a while.
HEALTHCHECK --interval=60s --timeout=10s --start-period=60s --retries=3 \
  CMD ["node", "/app/bin/driver-sync.js", "status", "--live", "--state", "/var/lib/driver-sync"]
# Exec form: the agent is process 1 and gets SIGTERM itself. It needs up to 20 s, so `docker stop --time 30`.
ENTRYPOINT ["node", "/app/bin/driver-sync.js"]
CMD ["run"]
