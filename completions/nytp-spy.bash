# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
#
# Completion of nytp-spy for bash: a command, then processes of this user, files, and options as its --help tells them.

_nytp_spy() {
    local cur=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} words= i
    COMPREPLY=()
    if [[ $before == @(-r|--rate|-d|--duration|-i|--interval|-f|--format|-P|--pattern) ]]; then
        return
    elif [[ $cur == -* ]]; then
        words=$("$1" --help 2>/dev/null | grep -o -- '--[a-z][a-z-]*' | sort -u)
    elif [[ $COMP_CWORD == 1 ]]; then
        words=$("$1" --help 2>/dev/null | sed -n 's/^    nytp spy \([a-z]*\) .*/\1/p' | uniq)
    else
        [[ $before == @(-o|--output|--core|--exe) ]] ||
            words=$(for i in /proc/[0-9]*; do [[ -O $i ]] && echo "${i#/proc/}"; done)
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -f -- "$cur")
    fi
    if [[ -n $words ]]; then
        mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -W "$words" -- "$cur")
    fi
}
complete -F _nytp_spy nytp-spy
