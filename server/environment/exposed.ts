// Which secrets other programs of this account can read in the environment of this process, or of one that it was started by, as npm.
import { readFileSync } from "node:fs";
import { isPlain, type Environment } from "./handover.ts";

const always = ["QUARTERDECK_TOKEN", "DATABASE_URL", "SMTP_URL", "PGPASSWORD"];

/**
 * @param inventory the text of the inventory file, which names others
 * @returns names; none where there is no `/proc`
 */
export function exposedSecrets(environment: Environment, inventory: string, pid: number): string[] {
  const named = [...inventory.matchAll(/\benv:([A-Za-z_]\w*)/g)].map(([, name = ""]) => name);
  const exposed = new Set<string>();
  for (const entries of environmentsFrom(pid))
    for (const name of [...always, ...named]) {
      const value = environment[name];
      if (value && !value.startsWith("file:") && !isPlain(name) && entries.has(`${name}=${value}`))
        exposed.add(name);
    }
  return [...exposed];
}

/** Those that can be read, from `pid` up to the first process of all. */
function* environmentsFrom(pid: number): Generator<Set<string>> {
  for (let at = pid; at > 0; at = parentOf(at)) {
    const text = read(`/proc/${at}/environ`);
    if (text !== null) yield new Set(text.split("\0"));
  }
}

function parentOf(pid: number): number {
  // "123 (name) S 1 …"; the name may hold anything, so the last bracket counts.
  const text = read(`/proc/${pid}/stat`) ?? "";
  return Number(text.slice(text.lastIndexOf(")") + 2).split(" ")[1]) || 0;
}

function read(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}
