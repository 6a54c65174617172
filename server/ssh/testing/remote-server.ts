// Provides a remote server for the tests of a file: a real sshd on this machine, so that tests can inspect both sides.
import { lstat, mkdtemp, rm } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { afterAll, expect } from "vitest";
import type { Site } from "../../../contract/servers.ts";
import type { Host } from "../../hosts/host.ts";
import type { TestService } from "../../testing/service.ts";
import { createConnection } from "../connection.ts";
import { createLimiter } from "../limiter.ts";
import { openRemoteHost } from "../remote-host.ts";
import { sshEntry } from "./entry.ts";
import { startSshd, type TestSshd } from "./sshd.ts";
import { isLongForm } from "../../testing/long-form.ts";
import { soon } from "../../testing/soon.ts";

export type RemoteServer = {
  /** The server as a host. The first call starts sshd, which stops after the tests of the file. Its account is that of the tests. */
  host(): Promise<Host>;
  /** The same server through another port, e.g. that of a proxy. */
  hostAt(port: number): Promise<Host>;
  sshd(): Promise<TestSshd>;
  /** The `connection` of the server's entry in an inventory. */
  connection(): Promise<string>;
  /**
   * Waits until the server responds. A cut may hit a connection while it is being opened, after which the service waits a
   * moment before the next attempt.
   */
  responds(): Promise<void>;
};

/** Call at the top of a test file. @param config lines of sshd_config */
export const createRemoteServer = ({ config = "" } = {}): RemoteServer =>
  createServer({ config, user: userInfo().username });

type SudoServer = RemoteServer & {
  /** Home of the account that `host` works as. */
  home(): Promise<{ folder: string; uid: number }>;
};

/** A remote server on which `host` works as another account than the login's, by sudo. Root only. Call at the top of a test file. */
export function createSudoServer(): SudoServer {
  const server = createServer({ sudoers: "deploy ALL=(shop) NOPASSWD: ALL" });
  async function account() {
    const { folder } = await server.sshd();
    const home = join(folder, "shop");
    const { uid, gid } = await lstat(home);
    return { uid, gid, name: "shop", home };
  }
  return {
    ...server,
    host: async () => (await server.host()).as(await account()),
    async home() {
      const { home: folder, uid } = await account();
      return { folder, uid };
    },
  };
}

/** @param user login; by default the server's own account */
function createServer({ user, ...options }: { config?: string; sudoers?: string; user?: string }) {
  const cleanUps: (() => Promise<unknown>)[] = [];
  afterAll(async () => {
    for (const cleanUp of cleanUps.toReversed()) await cleanUp();
  });
  let starting: ReturnType<typeof start> | null = null;

  async function start() {
    const sshd = await startSshd({
      ...options,
      cleanUp: (work) => void cleanUps.push(async () => work()),
    });
    return { sshd, ...(await connect(sshd, sshd.port)) };
  }

  async function connect(sshd: TestSshd, port: number) {
    const folder = await mkdtemp(join(tmpdir(), "qd-"));
    const connection = createConnection({
      target: { ...sshd.target({ ...(user !== undefined && { user }) }), port },
      folder,
      environment: { PATH: process.env["PATH"] ?? "", HOME: "/nowhere" },
      attempts: createLimiter(10),
    });
    cleanUps.push(
      () => rm(folder, { recursive: true, force: true }),
      () => connection.close(),
    );
    return { connection, host: await openRemoteHost(connection) };
  }

  const started = () => (starting ??= start());
  return {
    host: async () => (await started()).host,
    hostAt: async (port: number) => (await connect((await started()).sshd, port)).host,
    sshd: async () => (await started()).sshd,
    connection: async () => sshEntry((await started()).sshd, undefined, user),
    async responds() {
      const { connection } = await started();
      await soon(() => connection.ping(), 30_000);
    },
  };
}

/**
 * Returns this machine and a remote server, for tests that run on both. Call at the top of a test file. Where `isWhole` is false,
 * tests of code paths shared with this machine run in `npm run soak -- machines` only.
 */
export function eachMachine(options?: Parameters<typeof createRemoteServer>[0]) {
  const remote = createRemoteServer(options);
  return [
    { machine: "this machine", connectionOf: async () => "local", isWhole: true },
    { machine: "a remote server", connectionOf: remote.connection, isWhole: isLongForm },
  ];
}

/** Waits until the service knows the account of site 1, which a slow server may report only after the start. */
export const knowsAccount = ({ json }: Pick<TestService, "json">) =>
  soon(
    async () => expect((await json<Site>("GET", "/api/site/1")).body.account).not.toBeNull(),
    30_000,
  );
