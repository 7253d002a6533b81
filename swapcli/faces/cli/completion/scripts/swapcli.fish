# Completion of swapcli in fish: swapcli completion fish | source
function __swapcli_complete
    set -l before (commandline -opc)
    set -l program (string replace -r '^~' $HOME -- $before[1])
    set -e before[1]
    set -l current (string unescape -- (commandline -ct))
    set -l answer ($program _complete $before "$current" 2>/dev/null)
    set -l kind $answer[1]
    set -e answer[1]
    switch "$kind"
        case files folders
            set -l option (string match -r -- '^--[^=]*=' $current)
            set -l path (string replace -- "$option" '' $current)
            # Fish parses the argument of __fish_complete_directories, but not that of __fish_complete_path.
            set -l word (string escape --no-quoted -- $path | string replace -r '^\\\\~' '~')
            for match in (test $kind = files; and __fish_complete_path $path; or __fish_complete_directories $word)
                printf '%s%s\n' $option $match
            end
        case words list
            printf '%s\n' $answer
    end
end
complete -c swapcli -e
complete -c swapcli -f -a '(__swapcli_complete)'
