import { expect, test } from "vitest";
import { databaseThere } from "./known-databases.ts";

const postgres = { engine: "postgres", port: 5432, socket: "/run/postgresql" } as const;
const onSocket = { engine: "postgres", port: null, socket: "/run/postgresql" } as const;
const mysql = { engine: "mysql", port: 3306, socket: "/run/mysqld/mysqld.sock" } as const;

test.each([
  [postgres, "postgres://ops:a@localhost:5432/shop", "shop"],
  [postgres, "postgres://ops:a@127.0.0.1/shop", "shop"],
  [postgres, "postgres://ops:a@[::1]/my%20shop", "my shop"],
  [postgres, "postgres:///shop?host=/run/postgresql&user=ops", "shop"],
  [postgres, "postgres:///shop?host=/run/postgresql&port=5433", null],
  [postgres, "postgres://ops:a@localhost:5433/shop", null],
  [postgres, "postgres://ops:a@db.example.com/shop", null],
  [onSocket, "postgres:///shop?host=%2Frun%2Fpostgresql&user=ops", "shop"],
  [onSocket, "postgres://ops:a@localhost/shop", null],
  [mysql, "mysql://ops:a@127.0.0.1:3306/shop", "shop"],
  [mysql, "mariadb://ops:a@127.0.0.1/shop", "shop"],
  [mysql, "mysql://ops:a@localhost/shop?socket=/run/mysqld/mysqld.sock", "shop"],
  [mysql, "mysql://ops:a@localhost/shop", "shop"],
  [mysql, "mysql://ops:a@localhost/shop?socket=/run/other.sock", null],
  [mysql, "mysql://ops:a@localhost:3307/shop", null],
  [mysql, "mysql://ops:a@10.0.0.5:3306/shop", null],
  [{ ...mysql, socket: null }, "mysql://ops:a@localhost/shop", null],
  [mysql, "", null],
  [postgres, "nonsense", null],
])("%o has the database that %s names: %s", (place, url, expected) => {
  expect(databaseThere(place, url)).toBe(expected);
});
