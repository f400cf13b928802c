# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
#
# A service that is always sampled, a hundred times a second, and can be steered while it runs. Put your program
# where service.pl stands:
#
#     docker build -t app -f packaging/docker/always-on.Dockerfile .
#     docker run -d --init --name app -v profiles:/profiles app
#     docker exec app sh -c 'nytp-export --top /profiles/*.prof'     # while it runs
#     docker exec app sh -c 'nytp-ctl /profiles/*.ctl rotate'        # a whole profile, and the next begins
#
# Containers that share a volume have names of their own by %h. --init: what is process 1 itself does not die of
# `docker stop`. t/platforms/run docker carries these steps out in a chroot, without Docker.
FROM debian:bookworm-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev libisal-dev libpcre2-dev libperl-dev make perl zlib1g-dev && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY . .
RUN perl Makefile.PL INSTALLDIRS=vendor && make && make install DESTDIR=/built

FROM debian:bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends libisal2 libpcre2-8-0 perl zlib1g && rm -rf /var/lib/apt/lists/*
COPY --from=build /built /
RUN useradd --system app && install -d -o app /profiles
USER app
WORKDIR /app
COPY packaging/docker/service.pl app.pl
ENV NYTPROF=sample=100:file=/profiles/app.%h.%p.prof:control=/profiles/app.%h.%p.ctl:sigexit=term
CMD ["perl", "-d:NYTProf", "app.pl"]
