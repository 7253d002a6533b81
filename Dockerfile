# swapcli in a container: the service by default, any other command with arguments. `swapcli help deploy` says more.
#
#   docker build --tag swapcli .
#   docker run --publish 127.0.0.1:8000:8000 swapcli
#   docker run swapcli route base ETH USDC 1.5
#
# BASE is any image with Python 3.11 to 3.13 as `python`, such as a mirror's.
ARG BASE=python:3.13-slim

FROM ${BASE} AS build
WORKDIR /src
COPY pyproject.toml README.md LICENSE ./
COPY man ./man
COPY completions ./completions
COPY swapcli ./swapcli
# All dependencies have wheels, so there is no compiler in the image.
RUN python -m venv /opt/swapcli && /opt/swapcli/bin/pip install --no-cache-dir --only-binary :all: '.[redis]'

FROM ${BASE}
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
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s --retries=3 CMD ["python", "-I", "-c", "import http.client, os, sys; service = http.client.HTTPConnection('127.0.0.1', int(os.environ['SWAPCLI_SERVICE_PORT']), timeout=4); service.request('GET', '/readyz'); sys.exit(service.getresponse().status != 200)"]
ENTRYPOINT ["swapcli"]
CMD ["serve"]
