// For the tests of the folder source: sources on temporary folders, whose content is one word, so that tests can tell them apart.
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, writeFile } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { onTestFinished } from "vitest";
import type { Host, LocalHost } from "../../../../hosts/host.ts";
import { createLocalHost } from "../../../../hosts/local.ts";
import { createCollector } from "../../../testing/collector.ts";
import { createRemoteServer } from "../../../../ssh/testing/remote-server.ts";
import { createRemoteFolderSource } from "../remote/source.ts";
import { createFolderSource } from "../source.ts";
import { markOf, temporaryRoot } from "../../sqlite/remote/shell.ts";
import type { Attempt, Excludes, Source } from "../../source.ts";

export const run = promisify(execFile);

export const isRoot = userInfo().uid === 0;

export const isLinux = process.platform === "linux";

export const environment = { PATH: process.env["PATH"] ?? "", HOME: "/tmp" };

export const never = new AbortController().signal;

export async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "quarterdeck-folder-"));
  onTestFinished(async () => {
    await run("chmod", ["-R", "u+rwX", folder]).catch(() => undefined);
    await run("rm", ["-rf", folder]);
  });
  return folder;
}

/** Creates this machine and a remote server, on both of which the tests run. Call at the top of a test file. */
export function createMachines() {
  const remote = createRemoteServer();
  return [
    { machine: "this machine", makeSource },
    {
      machine: "a remote server",
      async makeSource(excludes: Excludes | null = null) {
        const folder = await makeFolder();
        const wrapped = wrap(folder, createRemoteFolderSource, await remote.host(), excludes);
        // Scratch folders of concurrent tests end differently.
        const end = `-${markOf(wrapped.root)}`;
        const scratch = async () =>
          (await readdir(temporaryRoot)).filter((name) => name.endsWith(end));
        return { folder, ...wrapped, scratch };
      },
    },
  ];
}

export async function makeSource(excludes: Excludes | null = null) {
  const folder = await makeFolder();
  return { folder, ...sourceIn(folder, createLocalHost(environment), excludes) };
}

/** @param host host of the account that does all work */
export const sourceIn = (folder: string, host: LocalHost, excludes: Excludes | null = null) =>
  wrap(folder, createFolderSource, host, excludes);

type Options<Machine> = {
  host: Machine;
  name: string;
  root: string;
  scratchFolder: string;
  excludes: Excludes | null;
};

function wrap<Machine extends Host>(
  folder: string,
  create: (options: Options<Machine>) => Source,
  host: Machine,
  excludes: Excludes | null,
) {
  const root = join(folder, "site");
  const scratchFolder = join(folder, "scratch");
  const said: string[] = [];
  const source = create({ host, name: "shop", root, scratchFolder, excludes });
  const attempt = (signal: AbortSignal = never): Attempt => ({
    id: 7,
    say: (line) => void said.push(line),
    signal,
  });
  const dump = async () => {
    const { into, content } = createCollector();
    const manifest = await source.dump(into, attempt());
    if (manifest.kind !== "folder") throw new Error("not a folder's manifest");
    return { manifest, archive: content() };
  };
  /** Returns what is left in the scratch folder. */
  const scratch = (): Promise<string[]> => readdir(scratchFolder).catch(() => []);
  return { root, scratchFolder, scratch, said, source, attempt, dump };
}

export async function makeSite(root: string, word: string, files = 3): Promise<void> {
  await mkdir(root);
  for (let number = 0; number < files; number += 1)
    await writeFile(join(root, `page-${number}`), `${word} `.repeat(1000));
}

/** Returns the word that all files of the site contain, or "mixed". */
export async function wordOf(root: string, files = 3): Promise<string> {
  const names = await readdir(root);
  const words = await Promise.all(
    names.map(async (name) => (await readFile(join(root, name), "utf8")).slice(0, 3)),
  );
  return names.length === files && new Set(words).size === 1 ? (words[0] ?? "") : "mixed";
}
