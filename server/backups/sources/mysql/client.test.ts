import { expect, test } from "vitest";
import { readToolVersion } from "./client.ts";

test.each([
  ["mysqldump  Ver 9.7.4-2 for Linux on x86_64 ((Debian))", "9.7.4"],
  ["mysqldump  Ver 8.0.39-0ubuntu0.22.04.1 for Linux on x86_64 ((Ubuntu))", "8.0.39"],
  ["mysqldump  Ver 10.13 Distrib 5.7.44, for Linux (x86_64)", "5.7.44"],
  ["mariadb-dump  Ver 10.19 Distrib 10.11.14-MariaDB, for debian-linux-gnu (x86_64)", "10.11.14"],
  ["mariadb-dump from 11.8.9-MariaDB, client 10.20 for debian-linux-gnu (x86_64)", "11.8.9"],
  ["mysqldump, a wrapper", null],
])("parses the version of a tool that prints “%s” as %s", (said, version) => {
  expect(readToolVersion(said)).toBe(version);
});
