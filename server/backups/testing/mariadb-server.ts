// Starts a MariaDB server for a test: in a temporary folder, on a free loopback port; `stop` removes it.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { access, chmod, chown, mkdir, rm } from "node:fs/promises";
import { userInfo } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { makeMemoryFolder } from "../../testing/memory-folder.ts";
import { freePort } from "../../testing/free-port.ts";
import { leashed } from "../../testing/leash.ts";
import { copyOfModel } from "../../testing/model.ts";

const execute = promisify(execFile);

const password = "s3cret'\\ \"ü";
const startLimitMs = 20_000;
/** Smaller than the default of 96 MB, because the file is copied and deleted for each server, and no test writes as much. */
const logSize = "--innodb-log-file-size=16M";

export type MariadbServer = {
  url(database: string, account?: { user: string; password: string }): string;
  createDatabase(name: string): Promise<void>;
  /** Runs SQL as root; null = in no database. Returns rows as tab-separated lines. */
  query(database: string | null, sql: string): Promise<string>;
  /** Returns a dump by the server's own tool, decoded as Latin-1. */
  dump(database: string): Promise<string>;
  /** Pid of the server's process; changes with `startAgain`. */
  readonly pid: number;
  /** Kills the server, which leaves its files as after a crash. */
  kill(): Promise<void>;
  /** Restarts the server with the same data and port. */
  startAgain(): Promise<void>;
  stop(): Promise<void>;
};

/** @param options further options of mariadbd */
export async function startMariadbServer(options: readonly string[] = []): Promise<MariadbServer> {
  const isRoot = userInfo().uid === 0;
  const folder = await makeMemoryFolder("quarterdeck-mariadb-");
  // mariadbd refuses to run as root.
  const account = isRoot ? await otherAccount() : null;
  if (account !== null) await chown(folder, account.uid, account.gid);
  await chmod(folder, 0o755);
  const data = join(folder, "data");
  const env = {
    ...process.env,
    // `PATH` of an ordinary account does not contain the server's folder.
    PATH: `${process.env["PATH"]}:/usr/sbin:/usr/local/sbin`,
    // A starting server deletes temporary tables it finds there, including those of other running servers.
    TMPDIR: folder,
  };
  const socket = join(folder, "s");
  await copyOfModel("mariadb", data, async (made) => {
    await mkdir(made);
    if (account !== null) await chown(made, account.uid, account.gid);
    await execute(
      "mariadb-install-db",
      [
        "--no-defaults",
        `--datadir=${made}`,
        "--auth-root-authentication-method=normal",
        "--skip-test-db",
        logSize,
      ],
      { env, cwd: folder, ...account },
    );
  });
  const port = await freePort();

  const asRoot = ["--no-defaults", "--user=root", `--socket=${socket}`];
  const query = async (database: string | null, sql: string) => {
    const running = execute(
      "mariadb",
      [
        ...asRoot,
        "--batch",
        "--raw",
        "--skip-column-names",
        "--binary-mode",
        "--comments",
        "--default-character-set=utf8mb4",
        ...(database === null ? [] : [`--database=${database}`]),
      ],
      { maxBuffer: 64 * 1024 * 1024 },
    );
    // A failing client does not read its input; its exit code reports the failure.
    running.child.stdin?.on("error", () => undefined);
    running.child.stdin?.end(sql);
    return (await running).stdout;
  };

  const dump = async (database: string) => {
    const running = execute(
      "mariadb-dump",
      [
        ...asRoot,
        "--routines",
        "--events",
        "--triggers",
        "--hex-blob",
        "--skip-dump-date",
        "--skip-lock-tables",
        "--default-character-set=utf8mb4",
        "--",
        database,
      ],
      { encoding: "latin1", maxBuffer: 64 * 1024 * 1024 },
    );
    return (await running).stdout;
  };

  async function start() {
    // A killed server leaves its socket.
    await rm(socket, { force: true });
    const child = spawn(
      ...leashed("KILL", "mariadbd", [
        "--no-defaults",
        `--datadir=${data}`,
        `--socket=${socket}`,
        `--port=${port}`,
        "--bind-address=127.0.0.1",
        // Writes to the page cache at each commit: data survives a killed server, and nothing waits for the disk.
        "--innodb-flush-log-at-trx-commit=2",
        "--innodb-flush-method=nosync",
        "--skip-sync-frm",
        logSize,
        "--innodb-buffer-pool-size=64M",
        "--event-scheduler=ON",
        "--skip-name-resolve",
        ...options,
      ]),
      { env, cwd: folder, stdio: "ignore", ...account },
    );
    const ended = once(child, "exit");
    const limit = Date.now() + startLimitMs;
    for (;;) {
      try {
        // Starting a client before the socket exists would only slow the server down.
        await access(socket);
        await query(null, "SELECT 1");
        return { child, ended };
      } catch (error) {
        if (Date.now() > limit || child.exitCode !== null) throw error;
        await new Promise((resolve) => setTimeout(resolve, 30));
      }
    }
  }

  let server = await start();
  const quoted = password.replaceAll("\\", "\\\\").replaceAll("'", "\\'");
  await query(
    null,
    `CREATE USER tester@'127.0.0.1' IDENTIFIED BY '${quoted}'; GRANT ALL ON *.* TO tester@'127.0.0.1' WITH GRANT OPTION;`,
  );

  const end = async (signal: "SIGKILL" | "SIGTERM") => {
    server.child.kill(signal);
    await server.ended;
  };

  return {
    url: (database, account = { user: "tester", password }) =>
      `mariadb://${account.user}:${encodeURIComponent(account.password)}@127.0.0.1:${port}/${encodeURIComponent(database)}`,
    createDatabase: async (name) => {
      await query(null, `CREATE DATABASE \`${name}\` CHARACTER SET utf8mb4`);
    },
    query,
    dump,
    get pid() {
      // `start` has connected to the server, so it was spawned.
      return server.child.pid ?? 0;
    },
    kill: () => end("SIGKILL"),
    async startAgain() {
      server = await start();
    },
    async stop() {
      await end("SIGKILL");
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function otherAccount() {
  for (const name of ["mysql", "nobody"]) {
    try {
      const { stdout } = await execute("id", ["-u", name]);
      const group = await execute("id", ["-g", name]);
      return { uid: Number(stdout), gid: Number(group.stdout) };
    } catch {
      // Tries the next account.
    }
  }
  throw new Error("There is neither a user mysql nor a user nobody to run mariadbd as.");
}
