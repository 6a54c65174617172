// Short texts of the facts about a server.
import { countOf } from "../../contract/count-text.ts";
import type { ServerStatus } from "../../contract/servers.ts";
import { memoryText } from "../ui/text/memory-text.ts";

type Facts = NonNullable<ServerStatus["facts"]>;

const availableText = (free: number | null, all: number | null): string =>
  all === null || free === null ? "Unknown" : `${memoryText(free)} of ${memoryText(all)} available`;

const loadText = ({ load, processors }: Facts): string =>
  load === null || processors === null
    ? "Unknown"
    : `${load} on ${countOf(processors, "processor")}`;

/**
 * Returns the version in a tool's output: the number with the most parts, because "Ver 10.19 Distrib 10.11.19-MariaDB"
 * has two.
 */
export function versionIn(words: string): string {
  const found = words.match(/\d+(?:\.\d+)+/g) ?? [];
  const parts = (version: string) => version.split(".").length;
  return found.toSorted((a, b) => parts(b) - parts(a))[0] ?? words;
}

export const factItems = (facts: Facts): { term: string; value: string }[] => [
  { term: "System", value: facts.system ?? "Unknown" },
  { term: "Load", value: loadText(facts) },
  { term: "Memory", value: availableText(facts.memory_available, facts.memory) },
  { term: "Disk", value: availableText(facts.disk_available, facts.disk) },
  ...facts.tools.map(({ name, version }) => ({
    term: name,
    value: version === null ? "Not installed" : versionIn(version),
  })),
];
