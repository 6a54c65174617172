import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import type { Command, Host } from "../../../hosts/host.ts";
import { createLocalHost } from "../../../hosts/local.ts";
import { startMariadbServer, type MariadbServer } from "../../testing/mariadb-server.ts";
import { removeLeftLogins } from "../login-file.ts";
import { withLogin } from "./login.ts";
import { attemptOf, sourceOf, takeDump, testHost } from "./testing/fixtures.ts";

let server: MariadbServer;
let scratch: string;

beforeAll(async () => {
  server = await startMariadbServer();
  await server.createDatabase("shop");
});

afterAll(() => server?.stop());

beforeEach(async () => {
  scratch = await mkdtemp(join(tmpdir(), "quarterdeck-mysql-login-"));
  onTestFinished(() => rm(scratch, { recursive: true, force: true }));
});

const never = new AbortController().signal;

test("the password stands in a file for this account alone, and nowhere else", async () => {
  const commands: Command[] = [];
  const modes: number[] = [];
  const host: Host = {
    ...testHost,
    async run(command) {
      commands.push(command);
      for (const name of await readdir(scratch))
        modes.push((await stat(join(scratch, name))).mode & 0o777);
      return testHost.run(command);
    },
  };
  await takeDump(sourceOf(server.url("shop"), scratch, host));
  expect(modes.length).toBeGreaterThan(0);
  expect(new Set(modes)).toEqual(new Set([0o600]));
  const shown = commands.map(({ argv, environment }) => JSON.stringify({ argv, environment }));
  expect(shown.join("\n")).not.toContain("s3cret");
  expect(shown.filter((line) => line.includes("/mysql-login-")).length).toBe(modes.length);
  expect(await readdir(scratch)).toEqual([]);
});

test("the file is gone after a tool that failed, and after an abort", async () => {
  const refused = sourceOf(
    server.url("shop", { user: "tester", password: "wrong" }),
    scratch,
  ).rehearse(never);
  await expect(refused).rejects.toThrow(/does not accept/);
  const abort = new AbortController();
  const aborting: Host = {
    ...testHost,
    run(command) {
      setTimeout(() => abort.abort(), 2);
      return testHost.run(command);
    },
  };
  const source = sourceOf(server.url("shop"), scratch, aborting);
  await expect(takeDump(source, attemptOf(1, abort.signal))).rejects.toThrow(/abort/i);
  expect(await readdir(scratch)).toEqual([]);
});

test.each(["#a#", " b ", "c\"'\\", "\\n\\s", "\\", '"d"', "'", "e=f;[client]", "g\th", "ü🦜"])(
  "the password %j gets through",
  async (password) => {
    const text = password.replaceAll("\\", "\\\\").replaceAll("'", "\\'");
    await server.query(
      null,
      `CREATE OR REPLACE USER odd IDENTIFIED BY '${text}'; GRANT ALL ON shop.* TO odd; GRANT SELECT ON mysql.proc TO odd`,
    );
    const url = server.url("shop", { user: "odd", password });
    expect(await sourceOf(url, scratch).rehearse(never)).toMatch(/answers/);
  },
);

test("the account's own option file does not come between", async () => {
  const home = await mkdtemp(join(tmpdir(), "quarterdeck-mysql-home-"));
  onTestFinished(() => rm(home, { recursive: true }));
  await writeFile(join(home, ".my.cnf"), "[client]\npassword=another\n[mysqldump]\nno-data\n");
  const host = createLocalHost({ PATH: process.env["PATH"] ?? "", HOME: home });
  expect(await sourceOf(server.url("shop"), scratch, host).rehearse(never)).toMatch(/answers/);
});

test("what a killed service left is removed, what a running one needs is not", async () => {
  // Above what Linux gives.
  const left = "mysql-login-4999999-0123456789ab.cnf";
  const others = "mysql-login-1-0123456789ab.cnf";
  const ownLeft = `mysql-login-${process.pid}-0123456789ab.cnf`;
  for (const name of [left, others, ownLeft, "mysql-1-0.json"])
    await writeFile(join(scratch, name), "");
  await withLogin(scratch, { user: "a", password: "b" }, async (first) => {
    await removeLeftLogins(scratch);
    expect(await readFile(first.slice(first.indexOf("=") + 1), "utf8")).toContain('password="b"');
  });
  expect((await readdir(scratch)).sort()).toEqual(["mysql-1-0.json", others]);
});
