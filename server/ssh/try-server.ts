// Tests a server that was typed into a form, over a connection that ends with the test.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Host } from "../hosts/host.ts";
import type { EntryTests } from "../inventory/try-entries.ts";
import { createConnection } from "./connection.ts";
import { readFacts, type Facts } from "./facts.ts";
import { createLimiter } from "./limiter.ts";
import { openRemoteHost } from "./remote-host.ts";
import { targetOf } from "./servers.ts";

type TryServerOptions = {
  local: Host;
  environment: Record<string, string>;
  inventoryFolder: string;
};

/** Limit of a single reply; the test as a whole has its own deadline. */
const answerMs = 9000;

export const createTryServer =
  ({ local, environment, inventoryFolder }: TryServerOptions): EntryTests["server"] =>
  async ({ connection }, keys, signal) => {
    if (connection === "local")
      return {
        message: "This is Quarterdeck's own machine.",
        details: toolsIn(await readFacts(local, 0)),
      };
    const folder = await mkdtemp(join(tmpdir().length < 70 ? tmpdir() : "/tmp", "qd-try-"));
    let made = 0;
    /** `ssh` reads keys only from files. */
    const keyFile = async (key: string) => {
      const typed = keys.get(key);
      if (typed === undefined) return key;
      const path = join(folder, `key-${(made += 1)}`);
      await writeFile(path, `${typed.replace(/\r\n/g, "\n").trimEnd()}\n`, { mode: 0o600 });
      return `file:${path}`;
    };
    const { ssh } = connection;
    const jump = ssh.jump && { ...ssh.jump, key: await keyFile(ssh.jump.key) };
    const target = targetOf({ ...ssh, key: await keyFile(ssh.key), jump }, inventoryFolder);
    const tried = createConnection({
      target,
      folder: join(folder, "c"),
      environment,
      attempts: createLimiter(1),
      answerMs,
    });
    // A caller that aborts does not wait; the processes end in the background.
    const close = () => void tried.close();
    signal.addEventListener("abort", close, { once: true });
    try {
      const host = await openRemoteHost(tried, { signal });
      const { name, uid } = host.account;
      return {
        message: `${tried.place} accepted the key; commands run as ${name === "" ? uid : name}.`,
        details: toolsIn(await readFacts(host, 0)),
      };
    } finally {
      signal.removeEventListener("abort", close);
      await tried.close();
      await rm(folder, { recursive: true, force: true });
    }
  };

const toolsIn = ({ system, tools }: Facts): string[] => [
  ...(system === null ? [] : [system]),
  ...tools.map(({ name, version, package: debian }) =>
    version === null ? `${name}: not installed (package ${debian})` : `${name}: ${version}`,
  ),
];
