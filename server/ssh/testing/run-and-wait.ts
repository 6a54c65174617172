// Runs two commands on a server until this process is killed: one on the shared connection, one on a separate one.
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { createConnection } from "../connection.ts";
import { createLimiter } from "../limiter.ts";
import { openRemoteHost } from "../remote-host.ts";
import type { SshTarget } from "../target.ts";

const [target = "", seconds = ""] = process.argv.slice(2);
const connection = createConnection({
  // The test passes a target.
  target: JSON.parse(target) as SshTarget,
  folder: await mkdtemp(join(tmpdir(), "qd-")),
  environment: { PATH: process.env["PATH"] ?? "", HOME: "/nowhere" },
  attempts: createLimiter(10),
});
const host = await openRemoteHost(connection);
await Promise.all([
  host.run({ argv: ["sleep", seconds] }),
  host.run({ argv: ["sleep", seconds], output: new PassThrough() }),
]);
