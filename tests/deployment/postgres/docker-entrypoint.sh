#!/bin/sh
# What the entry point of PostgreSQL's image does with its variables: begin as root, make the
# database once, and serve as another user.
set -e
data=/var/lib/postgresql/18
as_postgres() { setpriv --reuid postgres --regid postgres --clear-groups "$@"; }
if [ ! -e "$data/PG_VERSION" ]; then
  install -d -o postgres "$data"
  install -o postgres -m 400 "$POSTGRES_PASSWORD_FILE" /tmp/password
  as_postgres initdb --pgdata "$data" --username "$POSTGRES_USER" --pwfile /tmp/password --auth-host scram-sha-256 --encoding UTF8
  echo "host all all all scram-sha-256" >> "$data/pg_hba.conf"
  echo "CREATE DATABASE $POSTGRES_DB" | as_postgres postgres --single -D "$data" postgres
fi
exec setpriv --reuid postgres --regid postgres --clear-groups \
  "$@" -D "$data" -c listen_addresses='*' -c unix_socket_directories=/tmp
