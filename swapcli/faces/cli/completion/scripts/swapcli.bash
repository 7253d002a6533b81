# Completion of swapcli in bash: eval "$(swapcli completion bash)"
_swapcli() {
    local kind="" line current=${COMP_WORDS[COMP_CWORD]}
    local words=("${COMP_WORDS[@]:1:COMP_CWORD}")
    COMPREPLY=()
    if [[ $current == = ]]; then current=""; fi
    while IFS= read -r line; do
        if [[ -z $kind ]]; then
            kind=$line
        else
            line=${line%%$'\t'*}
            if [[ $line == *[!A-Za-z0-9_+=.,:/-]* ]]; then printf -v line %q "$line"; fi
            COMPREPLY+=("$line")
        fi
    done < <("${1/#\~/$HOME}" _complete "${words[@]//[\\\"\']/}" 2>/dev/null)
    case $kind in
        files|folders)
            compopt -o filenames 2>/dev/null
            local action=-f
            if [[ $kind == folders ]]; then action=-d; fi
            # Line by line: a name may hold spaces, and stars that would match other files.
            while IFS= read -r line; do
                COMPREPLY+=("$line")
            done < <(compgen $action -- "${current//[\\\"\']/}") ;;
        list) compopt -o nospace 2>/dev/null ;;
    esac
}
complete -F _swapcli swapcli
