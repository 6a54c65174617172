// Finds secrets that other programs of this account can read in the environment of this process or of its ancestors, such as npm.
import { readFileSync } from "node:fs";
import { isPlain, type Environment } from "./handover.ts";

const always = ["QUARTERDECK_TOKEN", "DATABASE_URL", "SMTP_URL", "PGPASSWORD"];

/**
 * @param inventory text of the inventory file, which names further variables
 * @returns names of variables; empty where there is no `/proc`
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

/** Yields the variable names of each readable environment, from `pid` up to process 1. */
function* environmentsFrom(pid: number): Generator<Set<string>> {
  for (let at = pid; at > 0; at = parentOf(at)) {
    const text = read(`/proc/${at}/environ`);
    if (text !== null) yield new Set(text.split("\0"));
  }
}

function parentOf(pid: number): number {
  // "123 (name) S 1 …". The name may contain brackets, so the last one ends it.
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
