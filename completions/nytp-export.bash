# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
#
# Completion of nytp-export for bash. Options and formats are asked from the command itself,
# so there is no list here that could fall behind.

_nytp_export() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words= value=
    # bash splits at "=": --unit=ns arrives as three words
    if [[ $cur == "=" ]]; then
        cur=
    elif [[ $prev == "=" && $COMP_CWORD -gt 1 ]]; then
        prev=${COMP_WORDS[COMP_CWORD-2]}
    fi
    COMPREPLY=()
    if [[ $prev == --format ]]; then
        words=$("$1" --list-formats 2>/dev/null | sed -n '/^Output:/,/^Input:/s/^  \([a-z][^ ]*\).*/\1/p')
    elif [[ $prev == --* ]]; then # an empty value is answered with the words that there are
        words=$("$1" --help "$prev=" 2>&1 >/dev/null | sed -n 's/.*unknown --.* "": \([^A-Z(]*[a-z]\).*/\1/p')
        words=${words//, / }
        value=$("$1" --help 2>/dev/null | sed -n "s/^ \{2,6\}\(-[a-zA-Z], \)\{0,1\}$prev \([A-Z][A-Z]*\) .*/\2/p")
    fi
    if [[ -z $words && $value == DIR ]]; then
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -d -- "$cur")
        return
    elif [[ -z $words && $cur != -* && $value == @(|FILE) ]]; then
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -f -- "$cur")
        return
    elif [[ -z $words && $value == @(|FILE) ]]; then
        words=$("$1" --help 2>/dev/null | sed -n 's/^ \{2,6\}\(-[a-zA-Z], \)\{0,1\}\(--[a-z][a-z-]*\).*/\2/p')
    fi
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}
complete -F _nytp_export nytp-export
