# swapcli in a container: the service by default, any other command with arguments. `swapcli help deploy` says more.
#
#   docker build --tag swapcli .
#   docker run --publish 127.0.0.1:8000:8000 swapcli serve --offline
#   docker run --publish 127.0.0.1:8000:8000 swapcli
#   docker run swapcli route base ETH USDC 1.5
#
# Published ports hide who asks: to the service, all requests come from the gateway of Docker's network, and all clients
# share one limit. Put a proxy on this machine in front, and name that gateway, which is mostly
#
#   docker run --publish 127.0.0.1:8000:8000 --env SWAPCLI_SERVICE_TRUSTED_PROXIES=172.17.0.1 swapcli
#
# but never with a port that others reach without the proxy: they could claim any address.
#
# BASE is any image with Python 3.11 to 3.13 as `python`, such as a mirror's.
ARG BASE=python:3.13-slim

FROM ${BASE} AS build
WORKDIR /src
# The dependencies first, in a layer that changes of the sources leave as it is. All of them have wheels, so there is no
# compiler in the image.
COPY pyproject.toml ./
RUN python -c "import tomllib; project = tomllib.load(open('pyproject.toml', 'rb'))['project']; print(*project['dependencies'], *project['optional-dependencies']['redis'], sep='\n')" > requirements.txt \
    && python -m venv /opt/swapcli \
    && /opt/swapcli/bin/pip install --no-cache-dir --only-binary :all: --requirement requirements.txt
COPY README.md LICENSE hatch_build.py ./
COPY completions ./completions
COPY swapcli ./swapcli
RUN /opt/swapcli/bin/pip install --no-cache-dir --no-deps '.[redis]' && /opt/swapcli/bin/pip check

FROM ${BASE}
LABEL org.opencontainers.image.title="swapcli" \
      org.opencontainers.image.description="Finds the best way to swap one token for another over liquidity pools, exact to the unit, and builds the ready-to-sign transaction." \
      org.opencontainers.image.version="0.1.0" \
      org.opencontainers.image.licenses="MIT"
COPY --from=build /opt/swapcli /opt/swapcli
RUN useradd --system --uid 10001 --no-create-home --home-dir /var/lib/swapcli swapcli \
    && install --directory --owner swapcli --mode 700 /var/lib/swapcli \
    && install --directory /etc/swapcli
ENV PATH=/opt/swapcli/bin:$PATH \
    XDG_CONFIG_HOME=/etc \
    SWAPCLI_STORE_DIR=/var/lib/swapcli \
    SWAPCLI_SERVICE_KEYS_FILE=/var/lib/swapcli/keys.json \
    SWAPCLI_SERVICE_HOST=0.0.0.0 \
    SWAPCLI_SERVICE_PORT=8000
# Outside a container serve listens on 127.0.0.1. In one that would be the container itself: no published port would
# reach it. Who can reach the service is decided by --publish.
USER 10001
WORKDIR /var/lib/swapcli
VOLUME /var/lib/swapcli
EXPOSE 8000
# Only serve answers on the port: any other command passes. The service is not ready while all its prices are modelled,
# unless they were requested, as by `serve --offline`.
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s --retries=3 CMD ["python", "-I", "-c", "import http.client, os, sys; b'serve' in open('/proc/1/cmdline', 'rb').read().split(b'\\0') or sys.exit(); service = http.client.HTTPConnection('127.0.0.1', int(os.environ['SWAPCLI_SERVICE_PORT']), timeout=4); service.request('GET', '/readyz'); sys.exit(service.getresponse().status != 200)"]
ENTRYPOINT ["swapcli"]
CMD ["serve"]
