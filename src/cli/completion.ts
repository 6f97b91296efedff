/** `completion`: what a shell needs to complete commands, options and what they take. */
import type { ArgumentSpec, CommandSpec, OptionSpec } from './command-spec.ts';
import { print } from './output.ts';

export type Shell = 'bash' | 'zsh' | 'fish';

/** Prints the script of a shell. */
export function completion(shell: Shell, commands: readonly CommandSpec[]): number {
  print(completionScript(shell, commands).split('\n'));
  return 0;
}

export function completionScript(shell: Shell, commands: readonly CommandSpec[]): string {
  if (shell === 'bash') return bashScript(commands);
  return shell === 'zsh' ? zshScript(commands) : fishScript(commands);
}

function bashScript(commands: readonly CommandSpec[]): string {
  const all = commands.flatMap(({ options }) => options);
  const valued = [...new Set(all.filter(({ takes }) => takes !== 'nothing').map(({ long }) => long))];
  const cases = commands.map(
    ({ name, options, arguments: taken }) => `    ${name})
      options='${options.map(({ long }) => long).join(' ')}'
      kind='${taken.map(bashWords).join(' ')}'
      ;;`,
  );
  const choices = [
    ...new Map(all.filter((option) => option.choices.length > 0).map((option) => [option.long, option.choices])),
  ];
  const choiceCases = choices.map(
    ([long, words]) => `    ${long}) COMPREPLY=($(compgen -W '${words.join(' ')}' -- "$current")); return ;;`,
  );
  const files = longsThat(all, 'file');
  const folders = longsThat(all, 'folder');
  return `# bash completion of driver-sync: source <(driver-sync completion bash)
_driver_sync() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]}
  local command='' options='' kind='' position=0 skip='' config='' word index
  for ((index = 1; index < COMP_CWORD; index++)); do
    word=\${COMP_WORDS[index]}
    if [[ -n $skip ]]; then
      [[ $skip == --config ]] && config=$word
      skip=''
      continue
    fi
    case $word in
    ${valued.join('|')}) skip=$word ;;
    -*) ;;
    *) if [[ -z $command ]]; then command=$word; else ((position++)); fi ;;
    esac
  done
  case $previous in
${choiceCases.join('\n')}
    ${files.join('|')}) COMPREPLY=($(compgen -f -- "$current")); return ;;
    ${folders.join('|')}) COMPREPLY=($(compgen -d -- "$current")); return ;;
    ${valued.join('|')}) return ;;
  esac
  if [[ -z $command ]]; then
    COMPREPLY=($(compgen -W '${commands.map(({ name }) => name).join(' ')} --help --version' -- "$current"))
    return
  fi
  case $command in
${cases.join('\n')}
    *) return ;;
  esac
  if [[ $current == -* ]]; then
    COMPREPLY=($(compgen -W "$options --help" -- "$current"))
    return
  fi
  local kinds=($kind)
  local asked=\${kinds[position]:-} count=\${#kinds[@]}
  if [[ -z $asked && $count -gt 0 && \${kinds[count-1]} == *... ]]; then asked=\${kinds[count-1]}; fi
  asked=\${asked%...}
  case $asked in
    '' | -) ;;
    folders) COMPREPLY=($(compgen -d -- "$current")) ;;
    sources | held | pushes)
      local ask=("\${COMP_WORDS[0]}" complete "$asked")
      [[ -n $config ]] && ask+=(--config "$config")
      local IFS=$'\\n'
      COMPREPLY=($(compgen -W "$("\${ask[@]}" 2>/dev/null)" -- "$current"))
      ;;
    *) COMPREPLY=($(compgen -W "\${asked//,/ }" -- "$current")) ;;
  esac
}
complete -o filenames -F _driver_sync driver-sync`;
}

/** One that may come again ends with three dots. */
function bashWords({ words, choices, isVariadic }: ArgumentSpec): string {
  return `${words ?? (choices.join(',') || '-')}${isVariadic ? '...' : ''}`;
}

function longsThat(options: readonly OptionSpec[], takes: OptionSpec['takes']): readonly string[] {
  return [...new Set(options.filter((option) => option.takes === takes).map(({ long }) => long))];
}

/** Within single quotes of a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

function zshScript(commands: readonly CommandSpec[]): string {
  const named = commands.map(({ name, summary }) => `    ${quoted(`${name}:${summary}`)}`);
  const cases = commands.map(({ name, options, arguments: taken }) => {
    const specs = [...options.map(zshOption), "'--help[show what it takes]'", ...taken.map(zshArgument)];
    return `    ${name}) _arguments ${specs.join(' \\\n      ')} ;;`;
  });
  return `#compdef driver-sync
# zsh completion of driver-sync: driver-sync completion zsh > ~/.zfunc/_driver-sync, with ~/.zfunc in fpath
_driver-sync_words() {
  local config=() words_found
  local at=\${words[(i)--config]}
  (( at < \${#words} )) && config=(--config "\${words[at+1]}")
  words_found=(\${(f)"$(driver-sync complete $1 $config 2>/dev/null)"})
  compadd -a words_found
}
_driver-sync() {
  local -a commands
  commands=(
${named.join('\n')}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT-- ))
  case $command in
${cases.join('\n')}
  esac
}
if [[ $funcstack[1] == _driver-sync ]]; then _driver-sync "$@"; else compdef _driver-sync driver-sync; fi`;
}

/** Brackets and colons have a meaning of their own in these. */
function zshText(text: string): string {
  return text.replaceAll(/[[\]:]/g, String.raw`\$&`);
}

function zshOption({ long, description, takes, choices, isVariadic }: OptionSpec): string {
  const what = `${isVariadic ? '*' : ''}${long}[${zshText(description)}]`;
  if (takes === 'nothing') return quoted(what);
  const values =
    choices.length > 0
      ? `(${choices.join(' ')})`
      : takes === 'file'
        ? '_files'
        : takes === 'folder'
          ? '_files -/'
          : ' ';
  return quoted(`${what}:${takes}:${values}`);
}

function zshArgument({ name, words, choices, isRequired, isVariadic }: ArgumentSpec): string {
  const values =
    choices.length > 0
      ? `(${choices.join(' ')})`
      : words === 'folders'
        ? '_files -/'
        : words === undefined
          ? ' '
          : ` _driver-sync_words ${words}`;
  return quoted(`${isVariadic ? '*:' : isRequired ? ':' : '::'}${name}:${values}`);
}

function fishScript(commands: readonly CommandSpec[]): string {
  const lines = commands.flatMap(({ name, summary, options, arguments: taken }) => [
    `complete -c driver-sync -n __fish_use_subcommand -f -a ${name} -d ${quoted(summary)}`,
    ...options.map((option) => fishOption(name, option)),
    ...taken.flatMap((argument) => fishArgument(name, argument)),
  ]);
  return `# fish completion of driver-sync: driver-sync completion fish > ~/.config/fish/completions/driver-sync.fish
function __driver_sync_words
  set -l tokens (commandline -opc)
  set -l config
  if set -l at (contains -i -- --config $tokens)
    set -l next (math $at + 1)
    set config --config $tokens[$next]
  end
  driver-sync complete $argv[1] $config 2>/dev/null
end
complete -c driver-sync -f
${lines.join('\n')}`;
}

function fishOption(command: string, { long, description, takes, choices }: OptionSpec): string {
  const value =
    takes === 'nothing'
      ? ''
      : choices.length > 0
        ? ` -x -a ${quoted(choices.join(' '))}`
        : takes === 'text'
          ? ' -x'
          : ' -r -F';
  return `complete -c driver-sync -n '__fish_seen_subcommand_from ${command}' -l ${long.slice(2)}${value} -d ${quoted(description)}`;
}

function fishArgument(command: string, { words, choices }: ArgumentSpec): readonly string[] {
  const given =
    choices.length > 0
      ? quoted(choices.join(' '))
      : words === 'folders'
        ? "'(__fish_complete_directories)'"
        : words === undefined
          ? ''
          : `'(__driver_sync_words ${words})'`;
  return given === '' ? [] : [`complete -c driver-sync -n '__fish_seen_subcommand_from ${command}' -f -a ${given}`];
}
