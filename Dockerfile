# Quarterdeck in a container: docs/install.md says how to run it, and what a container cannot look after.
FROM node:26.10.0-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
# The locked versions, as `server/setup/install.mjs` installs them. The base image is the Node that the package `node`
# would bring, so no script of a package has to run.
RUN npm install --no-save --ignore-scripts --no-audit --no-fund
COPY . .
RUN node --disable-warning=ExperimentalWarning server/setup/pack.ts /package

FROM node:26.10.0-bookworm-slim
# What backups and servers over SSH need. Debian 12 has the client of PostgreSQL 15, which dumps no newer server.
RUN apt-get update \
  && apt-get install --yes --no-install-recommends ca-certificates mariadb-client openssh-client postgresql-client \
  && rm -rf /var/lib/apt/lists/*
RUN --mount=type=bind,from=build,source=/package,target=/package \
  npm install --prefix /opt/quarterdeck --no-audit --no-fund /package/quarterdeck-*.tgz \
  && npm cache clean --force \
  && ln -s /opt/quarterdeck/node_modules/.bin/quarterdeck /usr/local/bin/quarterdeck
RUN useradd --system --user-group --home-dir=/data --shell=/usr/sbin/nologin quarterdeck \
  && install --directory --owner=quarterdeck --group=quarterdeck --mode=0700 /data
USER quarterdeck
WORKDIR /data
VOLUME /data
# Workers end with the container anyway, so they are asked to first.
ENV HOST=0.0.0.0 PORT=4000 QUARTERDECK_DATA=/data QUARTERDECK_WORKERS=stop
EXPOSE 4000
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["quarterdeck"]
CMD ["start"]
