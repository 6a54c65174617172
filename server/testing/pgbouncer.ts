// Starts Debian's PgBouncer in front of one database.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chown, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { freePort } from "./free-port.ts";
import { leashed } from "./leash.ts";
import { makeMemoryFolder } from "./memory-folder.ts";

/** Whether PgBouncer is installed. */
export const hasPgbouncer = spawnSync("pgbouncer", ["--version"]).error === undefined;

/** @param url of the database */
export async function startPgbouncer(
  url: string,
  mode: "session" | "transaction",
): Promise<{ url: string; stop(): Promise<void> }> {
  const folder = await makeMemoryFolder("quarterdeck-pgbouncer-");
  const port = await freePort();
  const { hostname, port: behind, pathname, username, password } = new URL(url);
  const users = join(folder, "users");
  const file = join(folder, "pgbouncer.ini");
  const quoted = (text: string) => `"${decodeURIComponent(text).replaceAll('"', '""')}"`;
  await writeFile(users, `${quoted(username)} ${quoted(password)}\n`);
  await writeFile(
    file,
    `[databases]
${pathname.slice(1)} = host=${hostname} port=${behind}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${users}
pool_mode = ${mode}
server_login_retry = 1
`,
  );
  // PgBouncer refuses to run as root.
  const account = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : null;
  if (account !== null)
    for (const path of [folder, users, file]) await chown(path, account.uid, account.gid);
  const server = spawn(...leashed("INT", "pgbouncer", ["--quiet", file]), {
    stdio: "ignore",
    ...account,
  });
  const through = new URL(url);
  through.host = `127.0.0.1:${port}`;
  for (let tries = 0; ; tries += 1) {
    const client = new pg.Client(through.href);
    try {
      await client.connect();
      await client.end();
      break;
    } catch (error) {
      if (tries > 200 || server.exitCode !== null) throw error;
      await sleep(50);
    }
  }
  return {
    url: through.href,
    async stop() {
      const exited = once(server, "exit");
      if (server.exitCode === null) {
        server.kill("SIGINT");
        await exited;
      }
      await rm(folder, { recursive: true });
    },
  };
}
