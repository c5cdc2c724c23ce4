# shellcheck shell=bash
# The lab's own command, where the last lab/up built it: lab/psql and lab/down run it without cargo, and from any
# environment. Sourced, with $lab set.

lab_command() {
    local command=''
    [ -f "$lab/run/command" ] && command=$(<"$lab/run/command")
    if [ -z "$command" ]; then
        echo "lab: it was never up here; lab/up builds and starts it" >&2
        exit 1
    elif [ ! -x "$command" ]; then
        echo "lab: $command is gone; lab/up builds it again (a lab that is up stays up)" >&2
        exit 1
    fi
    exec "$command" "$@"
}
