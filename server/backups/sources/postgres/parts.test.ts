import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { createRunner } from "../../../hosts/run.ts";
import { isBeyond } from "./rights.ts";
import { readTarget, toolEnvironment } from "./connection.ts";
import { loading } from "./run-script.ts";
import { lastWords, toolsToDump, type Tools } from "./tools.ts";
import { SourceError } from "../source.ts";

test.each([
  "secret",
  "mysql://me:secret@host/db",
  "postgres://me:secret@host",
  "postgres://me:secret@host/db?sslmode=maybe",
  "postgres://me:%ff-secret@host/db",
  "postgres://me:secret@host/line%0Abreak",
])("refuses %s without repeating the secret", (url) => {
  expect(() => readTarget("shop", url)).toThrow(SourceError);
  expect(() => readTarget("shop", url)).not.toThrow(/secret/);
});

test("passes everything but the password by environment", () => {
  const target = readTarget("shop", "postgres://me:secret@host/db");
  expect(toolEnvironment(target, "quarterdeck restore 7")).toEqual({
    PGHOST: "host",
    PGPORT: "5432",
    PGUSER: "me",
    PGDATABASE: "db",
    PGSSLMODE: "prefer",
    PGCONNECT_TIMEOUT: "10",
    PGAPPNAME: "quarterdeck restore 7",
  });
});

const tools = (major: number): Tools => ({ major, version: `${major}.1`, program: (name) => name });

test("dumps with the oldest tools that are new enough", () => {
  const installed: [Tools, ...Tools[]] = [tools(18), tools(16), tools(15)];
  const chosen = (major: number) => toolsToDump(installed, { major, text: `${major}.4` }).major;
  expect([14, 15, 16, 17, 18].map(chosen)).toEqual([15, 15, 16, 18, 18]);
  expect(() => toolsToDump([tools(15)], { major: 18, text: "18.4" })).toThrow(
    "pg_dump 15 is older than the server (PostgreSQL 18.4) and refuses to dump it. Install postgresql-client-18 or newer.",
  );
});

test("removes settings that an older server does not support, and only at the beginning", async () => {
  const start =
    "--\n\nSET lock_timeout = 0;\nSET transaction_timeout = 0;\nSELECT pg_catalog.set_config('search_path', '', false);\nSET check_function_bodies = false;\n";
  const rows = "COPY a FROM stdin;\n\\b$x\nSET lock_timeout = 0;\nSET transaction_timeout = 0;\n";
  const run = createRunner({ PATH: process.env["PATH"] ?? "", HOME: "/" });
  // Prints what psql would run.
  const printing = ["sh", "-c", 'for file do cat "${file#--file=}"; done', "sh"];
  const fitted = async (serverMajor: number, chunkBytes: number) => {
    const all = Buffer.from(start + rows);
    const chunks = Array.from({ length: Math.ceil(all.length / chunkBytes) }, (_, index) =>
      all.subarray(index * chunkBytes, (index + 1) * chunkBytes),
    );
    const end = await run({
      argv: loading(printing, serverMajor),
      given: ["begin;\n"],
      input: Readable.from(chunks),
    });
    return end.stdout;
  };
  const kept = "SET check_function_bodies = false;\n";
  for (const chunkBytes of [1, 10, 1000]) {
    expect(await fitted(15, chunkBytes)).toBe(`begin;\n--\n\n${kept}${rows}`);
    expect(await fitted(17, chunkBytes)).toBe(
      `begin;\n--\n\nSET transaction_timeout = 0;\n${kept}${rows}`,
    );
  }
});

test("the script that feeds psql closes no bracket that it has not opened, for the sh of macOS", () => {
  const [, , script] = loading(["psql"], 18);
  expect(script.split("(")).toHaveLength(script.split(")").length);
});

test("leaves to a superuser what only a superuser may restore", () => {
  const lines = [
    "3; 3079 16385 EXTENSION - citext ",
    "3500; 0 0 COMMENT - EXTENSION citext ",
    "3501; 0 0 COMMENT - SCHEMA public me",
    "3502; 0 0 ACL - SCHEMA public me",
    "3503; 0 0 ACL - SCHEMA public2 me",
    "3504; 0 0 COMMENT public TABLE users me",
    "6; 2615 2200 SCHEMA - public me",
    "7; 2615 2201 SCHEMA - public2 me",
  ];
  const beyond = (isSuperuser: boolean, ownsPublic: boolean, givesPublic = true) => {
    const rights = { isSuperuser, ownsPublic, givesPublic, beyond: [], members: [] };
    return lines.flatMap((line, at) => (isBeyond(line, rights) ? [at] : []));
  };
  expect(beyond(true, true)).toEqual([]);
  expect(beyond(false, true)).toEqual([1]);
  expect(beyond(false, false)).toEqual([1, 2, 3, 6]);
  expect(beyond(false, true, false)).toEqual([1, 6]);
});

test("reports the last message of a tool", () => {
  const end = { exitCode: 3, signal: null, stdout: "" };
  const wordsOf = (stderr: string) => lastWords({ ...end, stderr });
  expect(wordsOf('psql:<stdin>:12: ERROR:  role "x" does not exist\n')).toBe(
    'role "x" does not exist',
  );
  expect(wordsOf("pg_dump: warning: odd\npg_dump: error: no\npg_dump: detail: why\n")).toBe(
    "no detail: why",
  );
  expect(wordsOf("strange\n")).toBe("strange");
  expect(wordsOf("")).toBe("it ended with exit code 3.");
});
