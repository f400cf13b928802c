# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
#
# Adds nytp to an image that has a perl, from the tarball that runs where it is unpacked (nytp-0.1-linux-x86_64.tar.gz).
# The image needs no compiler, and no shell:
#
#     docker build -t app-nytp --build-arg IMAGE=app -f packaging/docker/relocatable.Dockerfile FOLDER-WITH-THE-TARBALL
#     docker run --init -v "$PWD:/prof" -e NYTPROF=file=/prof/%s.%p.out app-nytp nytp run -q app.pl
#
# Untried: no Docker ran it.
ARG IMAGE=debian:bookworm-slim
FROM debian:bookworm-slim AS unpacked
ADD nytp-*-linux-*.tar.gz /
RUN mv /nytp-*-linux-* /nytp

FROM ${IMAGE}
COPY --from=unpacked /nytp /opt/nytp
ENV PATH=/opt/nytp/bin:$PATH
