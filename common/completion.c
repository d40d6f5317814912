/* completion.c - see completion.h. */
#include "common/completion.h"

#include <stdio.h>
#include <string.h>

/* ---- Scripts ------------------------------------------------------------------------------------------------------------ */

/* In the scripts, \1 is the program's name, and \2 is how it is asked. */
static const char bash_script[] =
    "# Completes \1 in bash: source it, or save it as \1 in a folder of bash-completion.\n"
    "_\1() {\n"
    "    local IFS=$'\\n' word=${COMP_WORDS[COMP_CWORD]} line\n"
    "    COMPREPLY=()\n"
    "    for line in $(\2 -- \"${COMP_WORDS[@]:1:COMP_CWORD}\" 2>/dev/null); do\n"
    "        case ${line%%$'\\t'*} in\n"
    "        '<file>') compopt -o filenames; COMPREPLY=($(compgen -f -- \"$word\")) ;;\n"
    "        *) COMPREPLY+=(\"${line%%$'\\t'*}\") ;;\n"
    "        esac\n"
    "    done\n"
    "}\n"
    "complete -F _\1 \1\n";

static const char zsh_script[] = "#compdef \1\n"
                                 "# Completes \1 in zsh: save it as _\1 in a folder of $fpath.\n"
                                 "_\1() {\n"
                                 "    local -a found\n"
                                 "    local line name\n"
                                 "    for line in \"${(@f)$(\2 -- \"${(@)words[2,CURRENT]}\" 2>/dev/null)}\"; do\n"
                                 "        [[ -z $line ]] && continue\n"
                                 "        name=${line%%$'\\t'*}\n"
                                 "        if [[ $name == '<file>' ]]; then\n"
                                 "            _files\n"
                                 "            return\n"
                                 "        fi\n"
                                 "        found+=(\"${name//:/\\\\:}:${line#*$'\\t'}\")\n"
                                 "    done\n"
                                 "    _describe -t \1 \1 found\n"
                                 "}\n"
                                 "if [[ $funcstack[1] == _\1 ]]; then _\1 \"$@\"; else compdef _\1 \1; fi\n";

static const char fish_script[] = "# Completes \1 in fish: save it as ~/.config/fish/completions/\1.fish\n"
                                  "function __\1_complete\n"
                                  "    set -l words (commandline -opc) (commandline -ct)\n"
                                  "    set -l lines (\2 -- $words[2..-1] 2>/dev/null)\n"
                                  "    if test (count $lines) -eq 1; and string match -q '<file>*' -- $lines[1]\n"
                                  "        __fish_complete_path (commandline -ct)\n"
                                  "    else\n"
                                  "        string join \\n -- $lines\n"
                                  "    end\n"
                                  "end\n"
                                  "complete -c \1 -f -a '(__\1_complete)'\n";

void pw_completion_script(const char *shell, const char *program, const char *ask, struct pw_buffer *out)
{
    const char *script = shell[0] == 'b' ? bash_script : shell[0] == 'z' ? zsh_script : fish_script;
    for (; *script != '\0'; script++) {
        if (*script == '\1' || *script == '\2')
            pw_buffer_put(out, *script == '\1' ? program : ask);
        else
            pw_buffer_add(out, script, 1);
    }
}

/* ---- Words -------------------------------------------------------------------------------------------------------------- */

void pw_offer(struct pw_buffer *out, const char *begun, const char *word, const char *meaning)
{
    if (strncmp(word, begun, strlen(begun)) == 0)
        pw_buffer_format(out, "%s\t%s\n", word, meaning);
}

void pw_offer_values(struct pw_buffer *out, const char *begun, const char *prefix, const struct pw_option *option)
{
    char word[128];
    if (option->kind == PW_OPTION_FILE)
        pw_buffer_put(out, "<file>\t\n");
    for (const char *at = option->choices; at != NULL && *at != '\0'; at += strspn(at, " ")) {
        size_t size = strcspn(at, " ");
        (void)snprintf(word, sizeof word, "%s%.*s", prefix, (int)size, at);
        pw_offer(out, begun, word, "");
        at += size;
    }
}

void pw_offer_options(struct pw_buffer *out, const char *begun, const struct pw_option *const *options)
{
    char word[128];
    for (; *options != NULL; options++) {
        (void)snprintf(word, sizeof word, "--%s", (*options)->name != NULL ? (*options)->name : "");
        if ((*options)->name != NULL && (*options)->help != NULL)
            pw_offer(out, begun, word, (*options)->help);
    }
}

const struct pw_option *pw_option_awaiting(const struct pw_option *const *options, const char *word)
{
    const struct pw_option *option = NULL;
    if (strncmp(word, "--", 2) == 0)
        option = pw_option_find(options, word + 2, strlen(word + 2), '\0');
    else if (word[0] == '-' && word[1] != '\0' && word[2] == '\0')
        option = pw_option_find(options, NULL, 0, word[1]);
    return option != NULL && option->kind != PW_OPTION_FLAG ? option : NULL;
}

void pw_complete(struct pw_buffer *out, const struct pw_option *const *options, char **words, int count)
{
    const char *begun = count > 0 ? words[count - 1] : "";
    const struct pw_option *awaiting = count > 1 ? pw_option_awaiting(options, words[count - 2]) : NULL;
    if (awaiting != NULL)
        pw_offer_values(out, begun, "", awaiting);
    else if (begun[0] == '-')
        pw_offer_options(out, begun, options);
    else
        pw_buffer_put(out, "<file>\t\n");
}
