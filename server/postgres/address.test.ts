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
