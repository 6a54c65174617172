import { expect, test } from "vitest";
import { readPostgresUrl } from "./address.ts";

test("parses a URL like PostgreSQL's own programs", () => {
  const url = "postgresql://me:p%40ss%3A@[::1]:5433/d%20b?sslmode=require&sslcert=/c&sslkey=/k";
  expect(readPostgresUrl(url)).toEqual({
    host: "::1",
    port: 5433,
    user: "me",
    password: "p@ss:",
    database: "d b",
    sslMode: "require",
    sslRootCertificate: null,
    sslCertificate: "/c",
    sslKey: "/k",
  });
  expect(readPostgresUrl("postgres:///db?host=/run/postgresql&user=me")).toMatchObject({
    host: "/run/postgresql",
    port: 5432,
    user: "me",
    sslMode: "prefer",
  });
  expect(readPostgresUrl("postgres://host/db")).toMatchObject({ user: "postgres" });
  expect(readPostgresUrl("postgres://host/db", "me")).toMatchObject({ user: "me" });
});

test.each([
  "postgres://me:secret@db-1,db-2/shop",
  "postgres://me:secret@db-1:5432,db-2:5433/shop?target_session_attrs=read-write",
  "postgres://me:sec,ret@db-1,[::1]:5433/shop",
  "postgres:///shop?host=db-1,db-2&user=me",
])("says that %s names several hosts", (url) => {
  expect(() => readPostgresUrl(url)).toThrow(
    "names several hosts. Name one, such as a proxy in front of them.",
  );
});

test("parses a password with a comma", () => {
  expect(readPostgresUrl("postgres://me:sec,ret@db/shop")).toMatchObject({
    host: "db",
    password: "sec,ret",
  });
});
