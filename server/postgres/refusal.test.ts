import { expect, test } from "vitest";
import { readPostgresUrl } from "./address.ts";
import { describeRefusal } from "./refusal.ts";

// No socket is closed to root; `server/store/own-server.test.ts` has the errors of a real server.
test("a socket that the account may not open does not count as a response of the server", () => {
  const address = readPostgresUrl("postgres://me@localhost:5432/own?host=/run/postgresql");
  const error = Object.assign(new Error("connect EACCES /run/postgresql/.s.PGSQL.5432"), {
    code: "EACCES",
  });
  expect(describeRefusal(address, "DATABASE_URL", error)).toBe(
    "This account may not open the socket of PostgreSQL at /run/postgresql:5432. Let it enter that folder, or name another host in DATABASE_URL.",
  );
});
