import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import type { Command, Host } from "../../../hosts/host.ts";
import { createLocalHost } from "../../../hosts/local.ts";
import { startMariadbServer, type MariadbServer } from "../../testing/mariadb-server.ts";
import { sourceOf, takeDump } from "./testing/fixtures.ts";

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

test("the password is in no argument, no environment, and no named file", async () => {
  const commands: Command[] = [];
  const local = createLocalHost({ PATH: process.env["PATH"] ?? "", HOME: "/", TMPDIR: scratch });
  const seen: string[] = [];
  const host: Host = {
    ...local,
    async run(command) {
      commands.push(command);
      const ending = await local.run(command);
      // The file of another command may exist under a name for a moment, and is empty.
      for (const name of await readdir(scratch))
        seen.push(await readFile(join(scratch, name), "utf8").catch(() => ""));
      return ending;
    },
  };
  await takeDump(sourceOf(server.url("shop"), scratch, host));
  const shown = commands.map(({ argv, environment }) => JSON.stringify({ argv, environment }));
  expect(shown.join("\n")).not.toContain("s3cret");
  expect(seen.join("")).toBe("");
  expect(await readdir(scratch)).toEqual([]);
});

test.each(["#a#", " b ", "c\"'\\", "\\n\\s", "\\", '"d"', "'", "e=f;[client]", "g\th", "ü🦜"])(
  "authenticates with the password %j",
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

test("ignores the account's own option file", async () => {
  const home = await mkdtemp(join(tmpdir(), "quarterdeck-mysql-home-"));
  onTestFinished(() => rm(home, { recursive: true }));
  await writeFile(join(home, ".my.cnf"), "[client]\npassword=another\n[mysqldump]\nno-data\n");
  const host = createLocalHost({ PATH: process.env["PATH"] ?? "", HOME: home });
  expect(await sourceOf(server.url("shop"), scratch, host).rehearse(never)).toMatch(/answers/);
});
