# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
#
# Completion of nytp-export for bash. Options and formats are asked from the command itself,
# so there is no list here that could fall behind.

_nytp_export() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words
    # bash splits at "=": --unit=ns arrives as three words
    if [[ $cur == "=" ]]; then
        cur=
    elif [[ $prev == "=" && $COMP_CWORD -gt 1 ]]; then
        prev=${COMP_WORDS[COMP_CWORD-2]}
    fi
    COMPREPLY=()
    case $prev in
    --format)
        words=$("$1" --list-formats 2>/dev/null | sed -n '/^Output:/,/^Input:/s/^  \([a-z][^ ]*\).*/\1/p') ;;
    --as)
        words="text csv json markdown html" ;;
    --unit)
        words="ns us ms s ticks" ;;
    --weight)
        words="time calls statements ops cpu svs alloc_space alloc_objects inuse_space inuse_objects" ;;
    --clock)
        words="user system real" ;;
    --sort)
        words="self incl calls percall name ops svs alloc_space alloc_objects inuse_space inuse_objects" ;;
    --labels)
        words="pid,script pid script none" ;;
    --annotations)
        words="github" ;;
    --by)
        words="label" ;;
    --*)
        case $("$1" --help 2>/dev/null | sed -n "s/^ \{2,6\}\(-[a-zA-Z], \)\{0,1\}$prev \([A-Z][A-Z]*\) .*/\2/p") in
        DIR)
            compopt -o filenames 2>/dev/null
            mapfile -t COMPREPLY < <(compgen -d -- "$cur")
            return ;;
        "" | FILE) ;; # it takes no value, or a file
        *)
            return ;;
        esac ;;&
    *)
        if [[ $cur != -* ]]; then
            compopt -o filenames 2>/dev/null
            mapfile -t COMPREPLY < <(compgen -f -- "$cur")
            return
        fi
        words=$("$1" --help 2>/dev/null | sed -n 's/^ \{2,6\}\(-[a-zA-Z], \)\{0,1\}\(--[a-z][a-z-]*\).*/\2/p') ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}
complete -F _nytp_export nytp-export
