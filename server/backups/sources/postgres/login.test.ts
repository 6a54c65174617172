import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { Command, Host } from "../../../hosts/host.ts";
import { createLocalHost } from "../../../hosts/local.ts";
import {
  hasPostgresServer,
  startPostgresServer,
  type PostgresServer,
} from "../../testing/postgres-server.ts";
import { environment, makeSource } from "./testing/fixtures.ts";

const local = createLocalHost(environment);

describe.skipIf(!hasPostgresServer)("the password of a PostgreSQL database", () => {
  let server: PostgresServer;
  let scratchFolder: string;

  beforeAll(async () => {
    server = await startPostgresServer();
    await server.createDatabase("shop");
    await server.query("shop", "create table orders as select 1 as one");
    await server.query("postgres", "create role odd login superuser");
  });
  afterAll(() => server?.stop());

  beforeEach(async () => {
    scratchFolder = await mkdtemp(join(tmpdir(), "quarterdeck-postgres-login-"));
    onTestFinished(() => rm(scratchFolder, { recursive: true, force: true }));
  });

  const setPassword = (password: string) =>
    server.query("postgres", `alter role odd password '${password.replaceAll("'", "''")}'`);

  test("stands in a file for this account alone, while a tool runs, and nowhere else", async () => {
    const password = "s3cret-planted";
    await setPassword(password);
    const commands: Command[] = [];
    const modes: number[] = [];
    const host: Host = {
      ...local,
      async run(command) {
        commands.push(command);
        for (const name of await readdir(scratchFolder))
          modes.push((await stat(join(scratchFolder, name))).mode & 0o777);
        return local.run(command);
      },
    };
    const { source, attempt, dump } = makeSource(server.url("shop", { user: "odd", password }), {
      host,
      scratchFolder,
    });
    const { archive, manifest } = await dump();
    await source.drill(Readable.from([archive]), manifest, attempt());
    await source.restore(Readable.from([archive]), attempt());
    const shown = commands.map(({ argv, environment }) => JSON.stringify({ argv, environment }));
    expect(shown.join("\n")).not.toContain(password);
    expect(new Set(modes)).toEqual(new Set([0o600]));
    expect(await readdir(scratchFolder)).toEqual([]);
  });

  test("is gone after a tool that failed, and after an abort", async () => {
    await setPassword("right");
    const url = server.url("shop", { user: "odd", password: "right" });
    const failing: Host = {
      ...local,
      // Between the service's own connection and the tool's.
      async run(command) {
        if (command.argv.includes("--format=custom")) await setPassword("changed");
        return local.run(command);
      },
    };
    await expect(makeSource(url, { host: failing, scratchFolder }).dump()).rejects.toThrow(
      /password authentication failed/,
    );
    expect(await readdir(scratchFolder)).toEqual([]);

    await setPassword("right");
    const abort = new AbortController();
    const aborting: Host = {
      ...local,
      run(command) {
        if (command.argv.includes("--format=custom")) abort.abort(new Error("enough"));
        return local.run(command);
      },
    };
    const { source, attempt } = makeSource(url, { host: aborting, scratchFolder });
    const into = new PassThrough().on("error", () => undefined);
    await expect(source.dump(into, attempt(abort.signal))).rejects.toThrow("enough");
    expect(await readdir(scratchFolder)).toEqual([]);
  });

  test.each(["a:b", "c\\d", "\\:", ":", "#e", " f ", "g'\"h", "ü🦜", "*", "x".repeat(300)])(
    "gets through as %j",
    async (password) => {
      await setPassword(password);
      const { dump } = makeSource(server.url("shop", { user: "odd", password }), { scratchFolder });
      expect((await dump()).manifest.tables).toEqual({ "public.orders": 1 });
    },
  );

  test("that no file can hold is refused with the reason, and not repeated", async () => {
    const password = "line\nbreak";
    await server.query("postgres", `alter role odd password E'line\\nbreak'`);
    const { dump } = makeSource(server.url("shop", { user: "odd", password }), { scratchFolder });
    await expect(dump()).rejects.toThrow(/^The password of shop holds a line break/);
  });
});
