// Serves a folder with `rclone serve`, as an independent service for the tests of rclone as a client.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createConnection } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { vi } from "vitest";
import { freePort } from "../../testing/free-port.ts";

export type Served = "sftp" | "webdav" | "http";

export type RcloneServer = {
  port: number;
  /** rclone config with the service as the remote `served`. */
  config: string;
  close(): Promise<void>;
};

const login = { user: "deploy", password: "not a secret" };

/** @param more options of `rclone serve` */
export async function serveByRclone(
  kind: Served,
  root: string,
  more: readonly string[] = [],
): Promise<RcloneServer> {
  const port = await freePort();
  const home = await mkdtemp(join(tmpdir(), "quarterdeck-rclone-"));
  const address = `127.0.0.1:${port}`;
  const obscured = await obscure(login.password);
  const server = spawn(
    "rclone",
    [
      "serve",
      kind,
      root,
      "--addr",
      address,
      "--user",
      login.user,
      "--pass",
      login.password,
      ...more,
    ],
    // rclone creates the host key in that home.
    { stdio: "ignore", env: { PATH: process.env["PATH"], HOME: home } },
  );
  const ended = once(server, "exit");
  await vi.waitFor(() => connectTo(port), { timeout: 20_000 });
  const access = `user = ${login.user}\npass = ${obscured}\n`;
  const configs: Record<Served, string> = {
    sftp: `[served]\ntype = sftp\nhost = 127.0.0.1\nport = ${port}\nshell_type = none\n${access}`,
    webdav: `[served]\ntype = webdav\nurl = http://${address}\nvendor = other\n${access}`,
    // This kind is read-only.
    http: `[served]\ntype = http\nurl = http://${login.user}:${encodeURIComponent(login.password)}@${address}/\n`,
  };
  return {
    port,
    config: configs[kind],
    async close() {
      server.kill("SIGKILL");
      await ended;
      await rm(home, { recursive: true });
    },
  };
}

async function connectTo(port: number): Promise<void> {
  const socket = createConnection({ port, host: "127.0.0.1" });
  try {
    await once(socket, "connect");
  } finally {
    socket.destroy();
  }
}

/** Encrypts a password as rclone's config file requires. */
async function obscure(password: string): Promise<string> {
  const child = spawn("rclone", ["obscure", "-"], { stdio: ["pipe", "pipe", "inherit"] });
  child.stdin.end(password);
  return (await text(child.stdout)).trim();
}
