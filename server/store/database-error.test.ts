import { DrizzleQueryError } from "drizzle-orm/errors";
import { Client } from "pg";
import { describe, expect, test } from "vitest";
import { describeDatabaseError } from "./database-error.ts";

const coded = (code: string, more: object = {}) => Object.assign(new Error("x"), { code, ...more });

describe("describes errors of the database to operators", () => {
  test.each([
    ["a full disk", coded("53100"), /database's disk is full/],
    ["no connection left", coded("53300"), /connections are in use/],
    ["a database that shuts down", coded("57P01"), /is not responding/],
    ["a database that crashed", coded("57P02"), /is not responding/],
    ["a database that starts", coded("57P03"), /is starting/],
    ["a broken connection", coded("08006"), /is not responding/],
    ["a deadlock", coded("40P01"), /at the same time/],
    ["a serialization failure", coded("40001"), /at the same time/],
    ["a standby", coded("25006"), /read-only/],
    ["a refused connection", coded("ECONNREFUSED"), /is not responding/],
    ["a pg_hba.conf without this machine", coded("28000"), /refuses .* Check its pg_hba\.conf/],
    ["a changed password", coded("28P01"), /refuses .* Check its .*password/],
    ["a missing database", coded("3D000"), /refuses .* Check its .*name/],
    [
      "a server without TLS in the place of one with it",
      new Error("The server does not support SSL connections"),
      /refuses .* Check its .*TLS/,
    ],
    ["a missing socket", coded("ENOENT", { address: "/d/.s.PGSQL.5432" }), /is not responding/],
    ["an end without a code", new Error("Connection terminated unexpectedly"), /is not responding/],
    ["a pool timeout", new Error("timeout exceeded when trying to connect"), /not responding/],
    ["two refused addresses", new AggregateError([coded("ECONNREFUSED")]), /is not responding/],
  ])("%s", (_, error, words) => {
    expect(describeDatabaseError(error)).toMatch(words);
    expect(describeDatabaseError(new Error("deeper", { cause: error }))).toMatch(words);
    expect(describeDatabaseError(new DrizzleQueryError("select 1", [], error))).toMatch(words);
  });

  test("describes a real refused socket", async () => {
    const client = new Client({ host: "/nowhere", ssl: false });
    const error: unknown = await client.connect().catch((error: unknown) => error);
    expect(describeDatabaseError(error)).toMatch(/is not responding/);
  });
});

test.each([
  ["a broken constraint", coded("23505")],
  ["a missing file", coded("ENOENT", { path: "/x" })],
  ["a bug", new TypeError("x is undefined")],
  ["no error at all", "text"],
  ["nothing", undefined],
])("%s does not count as an error of the database", (_, error) => {
  expect(describeDatabaseError(error)).toBeNull();
});

test("handles an error that is its own cause", () => {
  const error = new Error("round");
  error.cause = error;
  expect(describeDatabaseError(error)).toBeNull();
});
