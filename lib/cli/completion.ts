import type { Command } from "commander";

export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

/** A verb (or the words before it) and its completions: further verbs, options or files. */
interface Place {
  /** "hone", "hone data", "hone data check". */
  readonly words: string;
  readonly verbs: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly { readonly long: string; readonly description: string }[];
}

function placesOf(command: Command, before = ""): Place[] {
  const words = before === "" ? command.name() : `${before} ${command.name()}`;
  const verbs = command.commands.map((verb) => ({
    name: verb.name(),
    description: firstClause(verb.description()),
  }));
  const own = command.options.flatMap(({ long, description }) =>
    long ? [{ long, description: firstClause(description) }] : [],
  );
  const options = [...own, { long: "--help", description: "say what there is" }];
  return [{ words, verbs, options }, ...command.commands.flatMap((verb) => placesOf(verb, words))];
}

/** The first clause of a description, short enough for a completion menu and free of characters that a shell interprets. */
function firstClause(description: string): string {
  return description
    .replace(/[;:(].*$/s, "")
    .replace(/["'`$\\[\]]/g, "")
    .trim();
}

/** Returns a completion script for `shell`: verbs, options and files of `command`. */
export function completionScript(command: Command, shell: Shell): string {
  const places = placesOf(command);
  return { bash, zsh, fish }[shell](command.name(), places);
}

const wordsFor = ({ verbs, options }: Place) => [
  ...verbs.map(({ name }) => name),
  ...options.map(({ long }) => long),
];

function bash(name: string, places: readonly Place[]): string {
  const cases = places.map((place) => `    "${place.words}") words="${wordsFor(place).join(" ")}" ;;`);
  return `# ${name}: put  source <(${name} completion bash)  into ~/.bashrc
_${name}() {
  local at="${name}" word words=""
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$at $word" in
${places
  .slice(1)
  .map(({ words }) => `      "${words}") at="${words}" ;;`)
  .join("\n")}
    esac
  done
  case "$at" in
${cases.join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -o bashdefault -F _${name} ${name}
`;
}

function zsh(name: string, places: readonly Place[]): string {
  const cases = places.map(({ words, verbs, options }) => {
    const items = [
      ...verbs.map((verb) => `'${verb.name}:${verb.description}'`),
      ...options.map((option) => `'${option.long}:${option.description}'`),
    ];
    return `    "${words}") items=(${items.join(" ")}) ;;`;
  });
  return `#compdef ${name}
# ${name}: put  source <(${name} completion zsh)  into ~/.zshrc, behind compinit
_${name}() {
  local at="${name}" word
  local -a items
  for word in "\${words[@]:1:CURRENT-2}"; do
    case "$at $word" in
${places
  .slice(1)
  .map(({ words }) => `      "${words}") at="${words}" ;;`)
  .join("\n")}
    esac
  done
  case "$at" in
${cases.join("\n")}
  esac
  _describe '${name}' items
  _files
}
compdef _${name} ${name}
`;
}

function fish(name: string, places: readonly Place[]): string {
  const lines = places.flatMap(({ words, verbs, options }) => {
    const at = words.split(" ").slice(1);
    const names = verbs.map((verb) => verb.name).join(" ");
    const seen = at.map((word) => `__fish_seen_subcommand_from ${word}`);
    const not = names === "" ? [] : [`not __fish_seen_subcommand_from ${names}`];
    const when = [...seen, ...not].join("; and ") || "true";
    return [
      ...verbs.map((v) => `complete -c ${name} -n '${when}' -f -a ${v.name} -d '${v.description}'`),
      ...options.map((o) => `complete -c ${name} -n '${when}' -l ${o.long.slice(2)} -d '${o.description}'`),
    ];
  });
  return `# ${name}: ${name} completion fish > ~/.config/fish/completions/${name}.fish\n${lines.join("\n")}\n`;
}
