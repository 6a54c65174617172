import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { createExportReader, exportersByKind } from "./exports.ts";

const foreign = (name: string) =>
  readFile(new URL(`../../testing/foreign/${name}.sql`, import.meta.url), "utf8");

/** @param pieces receives the output @returns the result for a text, and the events that are kept apart */
async function read(
  kind: "phpmyadmin-sql" | "adminer-sql",
  text: string | Buffer,
  pieces: Buffer[] = [],
) {
  const exporter = exportersByKind[kind] ?? expect.fail(`no exporter of ${kind}`);
  const reader = createExportReader(exporter);
  async function* content() {
    yield Buffer.from(text);
  }
  for await (const piece of reader.read(content())) pieces.push(piece);
  return { sql: Buffer.concat(pieces).toString(), events: reader.events(), notes: reader.notes() };
}

const exports = [
  ["phpmyadmin-sql", await foreign("shop.phpmyadmin")],
  ["adminer-sql", await foreign("shop.adminer")],
] as const;

describe.each(exports)("an export, %s,", (kind, text) => {
  test("keeps its events separate, and omits the accounts of its server", async () => {
    const { sql, events, notes } = await read(kind, text);
    expect(sql).toContain("CREATE TABLE `order items`");
    expect(sql).toContain("CREATE PROCEDURE `fill`");
    expect(sql).not.toMatch(/DEFINER *=|EVENT|DROP VIEW/);
    expect(events).toMatch(
      /^[^]*\bSET NAMES [^]*\bCREATE EVENT `tidy` .* COMMENT 'tidies; often' DO BEGIN DELETE FROM log WHERE id < 5; DELETE FROM files; END ;;\n$/,
    );
    expect(events).toMatch(/SET sql_mode = ["']NO_AUTO_VALUE_ON_ZERO["'] ;;/i);
    expect(notes).toEqual([expect.stringContaining("run as the account in the inventory")]);
  });

  test("is read the same with Windows line endings", async () => {
    const { sql, events } = await read(kind, text.replaceAll("\n", "\r\n"));
    const unix = (lines: string) => lines.replaceAll("\r", "");
    const plain = await read(kind, text);
    expect(unix(sql)).toBe(plain.sql);
    expect(unix(events)).toBe(plain.events);
    expect(sql).not.toMatch(/^DELIMITER .*\r/m);
  });

  test("is refused if it is truncated anywhere", async () => {
    const bytes = Buffer.from(text.trimEnd());
    const cuts = [...bytes.keys()].filter(
      (at) => at > bytes.length - 80 || bytes[at - 1] === 0x3b || at % 97 === 0,
    );
    expect(cuts.length).toBeGreaterThan(150);
    for (const at of cuts)
      await expect(read(kind, bytes.subarray(0, at)), `${at}`).rejects.toThrow(/cut off|no end/);
    await expect(read(kind, bytes)).resolves.toBeDefined();
  });

  test("is refused with the ending of another program", async () => {
    const [, other] = exports.find(([one]) => one !== kind) ?? expect.fail("no other");
    const end = other.trimEnd().split("\n").slice(-4).join("\n");
    await expect(read(kind, `${text}\n${end}\n`)).rejects.toThrow(/cut off/);
    await expect(read(kind, `${text}\n-- Dump completed\n`)).rejects.toThrow(/cut off/);
  });

  test.each([
    ["an account", "GRANT ALL ON *.* TO x;", "accounts"],
    ["another database", "INSERT INTO `b`.`t` VALUES (1);", "“b”"],
    ["a setting of the server", "SET GLOBAL event_scheduler = 1;", "whole server"],
    ["a file of the server", "LOAD DATA INFILE 'x' INTO TABLE users;", "reads a file"],
    [
      "what is behind a body",
      "DELIMITER $$\nCREATE PROCEDURE p() SELECT 1; SET @a = 1$$",
      "more stands behind",
    ],
    ["a mode in which texts end otherwise", "SET SQL_MODE = 'ANSI_QUOTES';", "ANSI_QUOTES"],
    [
      "rows of a table that it doesn't make",
      "INSERT INTO t VALUES (1);",
      "with structure and data",
    ],
    ["changes instead of rows", "UPDATE `users` SET `id` = 1;", "with INSERT statements"],
  ])("is refused with %s, like a dump", async (_, statement, words) => {
    const changed = text.replace(/^CREATE TABLE/m, (made) => `${statement}\n${made}`);
    const pieces: Buffer[] = [];
    await expect(read(kind, changed, pieces)).rejects.toThrow(words);
    // A client that has received the end of a statement has run it.
    expect(Buffer.concat(pieces).toString()).not.toContain(statement.split("\n").at(-1));
  });
});

test.each([
  "Error reading data for table shop.files: #1194 - Table 'files' is marked as crashed",
  "Error reading structure for table shop.files: #1146 - Table doesn't exist",
  "Fehler beim Lesen der Daten der Tabelle shop.files: #1194 - Tabelle als defekt markiert",
  "in use(#1146 - Table 'shop.files' doesn't exist)",
])("refuses an export of phpMyAdmin that contains “%s”", async (line) => {
  const [[, text]] = exports;
  for (const end of ["\n", "\r\n"]) {
    const changed = text.replace(/^INSERT INTO `files`/m, `-- ${line}${end}\n$&`);
    expect(changed).not.toBe(text);
    await expect(read("phpmyadmin-sql", changed)).rejects.toThrow(
      /couldn't read all.*export again/,
    );
  }
});
