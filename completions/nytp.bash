# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
#
# Completion of nytp for bash: its commands, then those of the command, as its --help tells them, or what it completes.

_nytp() {
    local cur=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} words=
    COMPREPLY=()
    if [[ $COMP_CWORD == 1 ]]; then
        words="help $("$1" --help 2>/dev/null | sed -n 's/^Commands here: //p')"
    elif [[ $command == export ]]; then
        if ! declare -F _nytp_export >/dev/null; then
            _completion_loader nytp-export 2>/dev/null
        fi
        if declare -F _nytp_export >/dev/null; then
            COMP_WORDS=("$(dirname -- "$(type -P "$1")")/nytp-export" "${COMP_WORDS[@]:2}")
            COMP_CWORD=$((COMP_CWORD - 1))
            _nytp_export "${COMP_WORDS[0]}"
            return
        fi
    elif [[ $command == help ]]; then
        words=$("$1" --help 2>/dev/null | sed -n 's/^Commands here: //p')
    elif [[ $COMP_CWORD == 2 && $cur != -* ]]; then
        words=$("$1" "$command" --help 2>/dev/null | sed -n "s/^    nytp $command \([a-z]*\) .*/\1/p")
    elif [[ $cur == -* ]]; then
        words=$("$1" "$command" --help 2>/dev/null | grep -o -- '--[a-z][a-z-]*' | sort -u)
    fi
    if [[ -n $words ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
    else
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -f -- "$cur")
    fi
}
complete -F _nytp nytp
