// Finds the programs that run a queue in supervisord's configuration.
import { createHash } from "node:crypto";
import { toShownText } from "../ssh/server-away.ts";

/** A record of the scan: the name of a section (`first`) with its file (`last`), or another line of the configuration (`last`). */
type Line = { kind: string; first: string; last: string };

/** A program of supervisord, as configured in its section. */
export type FoundProgram = {
  program: string;
  file: string;
  /** Others that have a section of it as well. */
  otherFiles: string[];
  options: Map<string, string>;
  /** The group that lists the program; supervisord then uses the group's name. Null = none. */
  group: string | null;
  /** Whether its file has no other section. */
  isAlone: boolean;
};

type Section = { name: string; file: string; options: Map<string, string> };

/** Removes a comment, which begins at the start of the line or after whitespace. */
const withoutComment = (text: string) => text.replace(/(?:^|\s)[;#].*$/, "").trim();

function readSections(lines: readonly Line[]): Section[] {
  const sections: Section[] = [];
  let option = "";
  let indent = 0;
  for (const { kind, first, last } of lines) {
    if (kind === "section") {
      sections.push({ name: toShownText(first), file: toShownText(last), options: new Map() });
      option = "";
    }
    const options = sections.at(-1)?.options;
    const text = withoutComment(last);
    if (kind !== "line" || options === undefined || text === "") continue;
    const depth = last.search(/\S/);
    // A line that is indented further continues the option before it.
    if (option !== "" && depth > indent) {
      options.set(option, `${options.get(option)}\n${text}`);
      continue;
    }
    const [, name = "", value = ""] = /^([^=:]+)[=:](.*)$/.exec(text) ?? [];
    option = name.trim().toLowerCase();
    indent = depth;
    if (option !== "") options.set(option, value.trim());
  }
  return sections;
}

/** Names of the programs of Quarterdeck's own workers, see `workers/supervisord/program-file.ts`. */
const ownNames = /^quarterdeck-[A-Za-z0-9]{1,12}-\d+-\d+$/;

export function findQueueWorkers(lines: readonly Line[]): FoundProgram[] {
  const sections = readSections(lines);
  const groups = sections.flatMap(({ name, options }) =>
    name.startsWith("group:")
      ? [{ name: name.slice("group:".length), programs: options.get("programs") ?? "" }]
      : [],
  );
  // supervisord joins the sections of a name, and goes by the last one where they differ.
  return [...Map.groupBy(sections, ({ name }) => name)].flatMap(([name, its]) => {
    const program = name.startsWith("program:") ? name.slice("program:".length).trim() : "";
    if (program === "" || ownNames.test(program)) return [];
    const options = new Map(its.flatMap((section) => [...section.options]));
    if (options.get("command")?.includes("queue:work") !== true) return [];
    const group = groups.find(({ programs }) => programs.split(/[\s,]+/).includes(program));
    const [file = "", ...otherFiles] = new Set(its.map((section) => section.file).toReversed());
    const isAlone = sections.every((other) => other.file !== file || other.name === name);
    return [{ program, file, otherFiles, options, group: group?.name ?? null, isAlone }];
  });
}

/** Returns a hash of the program's definition, by which a change is detected. */
export const versionOf = ({ program, file, options, group }: FoundProgram): string =>
  createHash("sha256")
    .update(
      JSON.stringify([
        program,
        file,
        group,
        [...options].map(([name, text]) => `${name}=${text}`).toSorted(),
      ]),
    )
    .digest("hex")
    .slice(0, 32);
