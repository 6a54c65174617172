import { expect, test } from "vitest";
import { readUrl } from "../backups/sources/mysql/client.ts";
import { readPostgresUrl } from "../postgres/address.ts";
import { databaseUrl } from "../../contract/database-url.ts";

const login = { user: "shop@web", password: "a:b/c?d#e%41 ü" };

test("a URL of PostgreSQL contains the entered values, by port and by socket", () => {
  const byPort = { engine: "postgres", port: 5433, socket: "/run/postgresql" } as const;
  expect(readPostgresUrl(databaseUrl(byPort, login, "sh/op"))).toMatchObject({
    ...login,
    host: "localhost",
    port: 5433,
    database: "sh/op",
  });
  const bySocket = { ...byPort, port: null };
  expect(readPostgresUrl(databaseUrl(bySocket, login, "sh/op"))).toMatchObject({
    ...login,
    host: "/run/postgresql",
    database: "sh/op",
  });
});

test("a URL of MySQL contains the entered values, by port and by socket", () => {
  const byPort = { engine: "mysql", port: 3307, socket: null } as const;
  expect(readUrl("shop", databaseUrl(byPort, login, "shop"))).toMatchObject({
    login,
    database: "shop",
    connection: ["--host=127.0.0.1", "--port=3307", "--protocol=tcp"],
  });
  const bySocket = { ...byPort, port: 3306, socket: "/run/mysqld/mysqld.sock" };
  expect(readUrl("shop", databaseUrl(bySocket, login, "shop"))).toMatchObject({
    login,
    connection: ["--host=localhost", "--socket=/run/mysqld/mysqld.sock"],
  });
});
