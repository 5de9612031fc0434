import { Argument, type Command } from "commander";
import { type CliContext } from "../context";

const shells = ["bash", "zsh", "fish"] as const;
type Shell = (typeof shells)[number];

export function register(program: Command, cli: CliContext): void {
  program
    .command("completion")
    .description("print a completion script for a shell")
    .addArgument(new Argument("<shell>", "the shell").choices([...shells]))
    .addHelpText(
      "after",
      '\nExamples:\n  eval "$(persyk completion bash)"\n  persyk completion zsh > ~/.zfunc/_persyk\n  persyk completion fish > ~/.config/fish/completions/persyk.fish',
    )
    .action((shell: Shell) => {
      cli.write(scripts[shell](program));
    });
}

interface Word {
  /** The words before it: `""`, `"wav"`, `"event-log list"`. */
  path: string;
  word: string;
  description: string;
}

/** Every command and option with the command path it belongs to. */
function wordsOf(command: Command, path = ""): Word[] {
  const words: Word[] = [];
  for (const option of [...command.options, ...(path === "" ? [] : (command.parent?.options ?? []))]) {
    if (option.long !== undefined && option.long !== null && !option.hidden) {
      words.push({ path, word: option.long, description: option.description });
    }
    if (option.argChoices !== undefined) {
      for (const choice of option.argChoices) {
        words.push({ path: `${path} ${option.long ?? ""}`.trim(), word: choice, description: "" });
      }
    }
  }
  for (const child of command.commands) {
    const below = `${path} ${child.name()}`.trim();
    words.push({ path, word: child.name(), description: child.description() }, ...wordsOf(child, below));
  }
  return words;
}

function grouped(program: Command): Map<string, Word[]> {
  const groups = new Map<string, Word[]>();
  for (const word of wordsOf(program)) groups.set(word.path, [...(groups.get(word.path) ?? []), word]);
  return groups;
}

/** Text inside single quotes of bash, zsh or fish. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

const scripts: Record<Shell, (program: Command) => string> = {
  bash(program) {
    const cases = [...grouped(program)].map(
      ([path, words]) =>
        `    ${quoted(path)}) words=${quoted([...new Set(words.map(({ word }) => word))].join(" "))} ;;`,
    );
    return `# bash completion for persyk
_persyk() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} path="" words="" word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) ;; *) _persyk_words "\${path:+$path }$word" && path="\${path:+$path }$word" ;; esac
  done
  if [[ $prev == --* ]] && _persyk_words "\${path:+$path }$prev"; then :; else _persyk_words "$path"; fi
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
  [[ \${#COMPREPLY[@]} -gt 0 || $cur == -* ]] || COMPREPLY=($(compgen -f -- "$cur"))
}
_persyk_words() {
  words=""
  case "$1" in
${cases.join("\n")}
    *) return 1 ;;
  esac
}
complete -o filenames -F _persyk persyk
`;
  },
  zsh(program) {
    const cases = [...grouped(program)].map(([path, words]) => {
      const described = words.map(({ word, description }) => quoted(`${word.replaceAll(":", "\\:")}:${description}`));
      return `    ${quoted(path)}) words_=(${described.join(" ")}) ;;`;
    });
    return `#compdef persyk
_persyk_words() {
  words_=()
  case "$1" in
${cases.join("\n")}
    *) return 1 ;;
  esac
}
_persyk() {
  local command_path="" word
  local -a words_
  for word in "\${(@)words[2,CURRENT-1]}"; do
    [[ $word == -* ]] || { _persyk_words "\${command_path:+$command_path }$word" && command_path="\${command_path:+$command_path }$word" }
  done
  if [[ $words[CURRENT-1] == --* ]] && _persyk_words "\${command_path:+$command_path }$words[CURRENT-1]"; then :; else _persyk_words "$command_path"; fi
  _describe 'persyk' words_ || _files
}
if [[ $funcstack[1] == _persyk ]]; then _persyk "$@"; else compdef _persyk persyk; fi
`;
  },
  fish(program) {
    const lines = wordsOf(program).map(({ path, word, description }) => {
      const names = path.split(" ").filter((part) => part !== "" && !part.startsWith("--"));
      const condition =
        names.length === 0
          ? "__fish_use_subcommand"
          : names.map((name) => `__fish_seen_subcommand_from ${name}`).join("; and ");
      const subject = word.startsWith("--") ? `-l ${word.slice(2)}` : `-a ${quoted(word)}`;
      const text = description === "" ? "" : ` -d ${quoted(description)}`;
      return `complete -c persyk -n ${quoted(condition)} ${subject}${text}`;
    });
    return `# fish completion for persyk\n${lines.join("\n")}\n`;
  },
};
