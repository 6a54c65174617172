import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { Command, Host } from "../../../hosts/host.ts";
import { createLocalHost } from "../../../hosts/local.ts";
import { isLongForm } from "../../../testing/long-form.ts";
import {
  hasPostgresServer,
  startPostgresServer,
  type PostgresServer,
} from "../../testing/postgres-server.ts";
import { environment, makeSource } from "./testing/fixtures.ts";

describe.skipIf(!hasPostgresServer)("the password of a PostgreSQL database", () => {
  let server: PostgresServer;
  let scratchFolder: string;
  let local: Host;

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
    local = createLocalHost({ ...environment, TMPDIR: scratchFolder });
  });

  const setPassword = (password: string) =>
    server.query("postgres", `alter role odd password '${password.replaceAll("'", "''")}'`);

  test("is in no argument, no environment, and no named file", async () => {
    const password = "s3cret-planted";
    await setPassword(password);
    const commands: Command[] = [];
    const seen: string[] = [];
    const host: Host = {
      ...local,
      async run(command) {
        const { take } = command;
        commands.push(command);
        if (take === undefined) return local.run(command);
        return local.run({
          ...command,
          async take(piece) {
            // The file exists under a name for a moment, and is empty.
            for (const name of await readdir(scratchFolder))
              seen.push(await readFile(join(scratchFolder, name), "utf8").catch(() => ""));
            await take(piece);
          },
        });
      },
    };
    const { source, attempt, dump } = makeSource(server.url("shop", { user: "odd", password }), {
      host,
    });
    const { archive, manifest } = await dump();
    await source.drill(Readable.from([archive]), manifest, attempt());
    await source.restore(Readable.from([archive]), attempt());
    const shown = commands.map(({ argv, environment }) => JSON.stringify({ argv, environment }));
    expect(shown.join("\n")).not.toContain(password);
    expect(seen.join("")).toBe("");
    expect(await readdir(scratchFolder)).toEqual([]);
  });

  const passwords = ["a:b", "c\\d", "\\:", ":", "#e", " f ", "g'\"h", "ü🦜", "*", "x".repeat(300)];
  // All special characters at once, in a long password with spaces at its ends; `npm run soak -- sources` tests each alone.
  test.each([...(isLongForm ? passwords : []), ` #${passwords.join("")} `])(
    "authenticates as %j",
    async (password) => {
      await setPassword(password);
      const { dump } = makeSource(server.url("shop", { user: "odd", password }));
      expect((await dump()).manifest.tables).toEqual({ "public.orders": 1 });
    },
  );

  test("that no file can contain is refused with the reason, and not repeated", async () => {
    const password = "line\nbreak";
    await server.query("postgres", `alter role odd password E'line\\nbreak'`);
    const { dump } = makeSource(server.url("shop", { user: "odd", password }));
    await expect(dump()).rejects.toThrow(/^The password of shop holds a line break/);
  });
});
