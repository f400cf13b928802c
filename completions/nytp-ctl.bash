# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
#
# Completion of nytp-ctl for bash: a process of this user or a socket, then a command. Words are asked from the command itself.

_nytp_ctl() {
    local cur=${COMP_WORDS[COMP_CWORD]} words= n=0 i
    COMPREPLY=()
    for ((i = 1; i < COMP_CWORD; i++)); do
        [[ ${COMP_WORDS[i]} == -* ]] || n=$((n + 1))
    done
    if [[ $cur == -* ]]; then
        words=$("$1" --help 2>/dev/null | grep -o -- '--[a-z][a-z-]*' | sort -u)
    elif [[ $n == 0 ]]; then
        words=$(for i in /proc/[0-9]*; do [[ -O $i ]] && echo "${i#/proc/}"; done)
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -f -- "$cur")
    elif [[ $n == 1 ]]; then
        words=$("$1" 0 "?" 2>&1 | sed -n 's/.*there are //p' | tr -d ,)
    elif [[ ${COMP_WORDS[COMP_CWORD - 1]} == @(rotate|-o|--output) ]]; then
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -f -- "$cur")
    fi
    if [[ -n $words ]]; then
        mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -W "$words" -- "$cur")
    fi
}
complete -F _nytp_ctl nytp-ctl
