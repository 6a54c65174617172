// Searches for leaked secrets: in responses, in arguments of processes, in files that others may read.
import { lstat, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/** Secrets that Quarterdeck generates: signing secrets of webhooks, and tokens. */
const ownForms = /whsec_[A-Za-z0-9+/=]{20,}|qd_[A-Za-z0-9]{48}/;

/** Returns the first secret in a text; null = there is none. */
export const secretIn = (text: string, planted: readonly string[]): string | null =>
  planted.find((secret) => text.includes(secret)) ?? ownForms.exec(text)?.[0] ?? null;

/** Returns command lines that contain a secret. All accounts of the machine can read them, as `ps` does. */
export async function secretsInProcesses(planted: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const pid of (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name))) {
    // The process may have ended meanwhile.
    const line = await readFile(`/proc/${pid}/cmdline`, "latin1").catch(() => "");
    if (secretIn(line, planted) !== null) found.push(line.replaceAll("\0", " "));
  }
  return found;
}

/** Returns files below `folder` that contain a secret and that others than their owner may read. */
export async function secretsInFiles(
  folder: string,
  planted: readonly string[],
): Promise<string[]> {
  const found: string[] = [];
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  for (const entry of entries.filter((one) => one.isFile())) {
    const path = join(entry.parentPath, entry.name);
    const mode = await lstat(path).then(
      (stat) => stat.mode & 0o777,
      () => 0o600,
    );
    if (mode === 0o600) continue;
    const content = await readFile(path, "latin1").catch(() => "");
    if (secretIn(content, planted) !== null) found.push(`${path} (${mode.toString(8)})`);
  }
  return found;
}
