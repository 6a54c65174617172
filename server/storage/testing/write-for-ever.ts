// Puts an object without an end into a storage, until it is killed.
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { createConnection } from "../../ssh/connection.ts";
import { createLimiter } from "../../ssh/limiter.ts";
import { openRemoteHost } from "../../ssh/remote-host.ts";
import type { SshTarget } from "../../ssh/target.ts";
import { createLocalStorage } from "../local.ts";
import { createRemoteStorage } from "../remote.ts";
import { openRclone } from "./open-rclone.ts";

const [root = "", key = "", target = ""] = process.argv.slice(2);

async function openThere() {
  const connection = createConnection({
    // What the test gave.
    target: JSON.parse(target) as SshTarget,
    folder: await mkdtemp(join(tmpdir(), "qd-")),
    environment: { PATH: process.env["PATH"] ?? "", HOME: "/nowhere" },
    attempts: createLimiter(10),
  });
  return createRemoteStorage({ host: await openRemoteHost(connection), server: "far", root });
}

const open = { "": async () => createLocalStorage({ path: root }), rclone: () => openRclone(root) };
const storage = await (target === "" || target === "rclone" ? open[target]() : openThere());
const endless = Readable.from(
  (async function* () {
    for (;;) {
      yield Buffer.alloc(10_000);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  })(),
  { objectMode: false },
);
await storage.put(key, endless, { signal: new AbortController().signal });
