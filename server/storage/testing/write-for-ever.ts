// Stores an endless object until the process is killed.
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
import { openSftp } from "./open-sftp.ts";

const [root = "", key = "", given = ""] = process.argv.slice(2);

async function openThere(target: SshTarget) {
  const connection = createConnection({
    target,
    folder: await mkdtemp(join(tmpdir(), "qd-")),
    environment: { PATH: process.env["PATH"] ?? "", HOME: "/nowhere" },
    attempts: createLimiter(10),
  });
  return createRemoteStorage({ host: await openRemoteHost(connection), server: "far", root });
}

/** Set by the test. */
type Given = "here" | "rclone" | { ssh: SshTarget } | { sftp: SshTarget };

async function openGiven(way: Given) {
  if (way === "here") return createLocalStorage({ path: root });
  if (way === "rclone") return openRclone(root);
  return "ssh" in way ? openThere(way.ssh) : openSftp(way.sftp, root);
}

// The `argument` of the storage in `every-storage.ts`.
const storage = await openGiven(JSON.parse(given) as Given);
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
