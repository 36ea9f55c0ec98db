# The workbench in a container; nothing is fetched once it is built. Exact versions and digests are the locks'.
#   docker build -t provenanceguard .
#   docker run --read-only --tmpfs /tmp -v guard:/data -p 127.0.0.1:8501:8501 provenanceguard
# A build without a network takes the files of a folder (see docs/how-to/container.md):
#   docker build --network none --build-arg WHEELS=wheels -t provenanceguard .
ARG PYTHON=python:3.11-slim
FROM ${PYTHON} AS build
ARG WHEELS=""
WORKDIR /app
COPY . .
RUN python -m venv /venv \
 && FROM_FOLDER="${WHEELS:+--no-index --find-links=/app/$WHEELS}" \
 && /venv/bin/pip install --no-cache-dir $FROM_FOLDER --no-deps --require-hashes -r requirements.lock -r requirements-server.lock \
 && /venv/bin/pip install --no-cache-dir $FROM_FOLDER --no-deps torch==2.13.0 \
 && /venv/bin/pip install --no-cache-dir --no-index --no-deps --no-build-isolation -e . \
 && rm -rf "/app/${WHEELS:-none}"

FROM ${PYTHON}
RUN useradd --uid 10001 --no-create-home guard && install -d -o guard /data
COPY --from=build /venv /venv
COPY --from=build /app /app
ENV PATH=/venv/bin:$PATH HOME=/tmp HF_HUB_OFFLINE=1 PYTHONDONTWRITEBYTECODE=1 \
    PROVENANCEGUARD_DB=/data/workbench.db PROVENANCEGUARD_KEYS=/data/keys STREAMLIT_SERVER_ADDRESS=0.0.0.0
USER guard
WORKDIR /app
VOLUME /data
EXPOSE 8501
HEALTHCHECK --interval=30s --timeout=5s --start-period=180s \
  CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8501/_stcore/health', timeout=4)"]
CMD ["sh", "-c", "python -m cli.first_start && exec python -m streamlit run app.py"]
