import { finished } from "node:stream/promises";
import { expect, test } from "vitest";
import { writeTo } from "../../../write-to.ts";
import { createPieces } from "./pieces.ts";

const settings =
  "/*M!999999\\- enable the sandbox mode */\n-- MariaDB dump\n--\nSET NAMES utf8mb4;\n\n--\n";
const content = `-- Table structure for table \`a\`
--
CREATE TABLE \`a\` (\n  \`id\` int);
INSERT INTO \`a\` VALUES
(1,'-- Final view structure for view \`v\`\\n'),
(2,'x');
DELIMITER ;;
CREATE PROCEDURE p()
BEGIN
-- Final view structure for view \`trap\`
SELECT 1;
END ;;
DELIMITER ;
--
`;
const views =
  "-- Final view structure for view `v`\n--\nCREATE VIEW v AS SELECT 1;\n-- Dump completed";

async function cut(dump: Buffer, pieceBytes: number): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  const pieces = createPieces(async (name, parts) => {
    files.set(name, Buffer.concat(parts).toString());
  });
  const memory = Buffer.alloc(pieceBytes);
  for (let at = 0; at < dump.length; at += pieceBytes)
    // Like a host, reuses the memory for the next piece.
    await writeTo(pieces, memory.subarray(0, dump.copy(memory, 0, at, at + pieceBytes)));
  pieces.end();
  await finished(pieces);
  return files;
}

test.each([1, 7, 41, 10_000])(
  "a dump that arrives %i bytes at a time is split before its tables and its views, and nowhere else",
  async (pieceBytes) => {
    const whole = Buffer.from(settings + content + views);
    expect([...(await cut(whole, pieceBytes))]).toEqual([
      ["0-settings-000001.sql", settings],
      ["1-content-000001.sql", content],
      ["2-views-000001.sql", views],
    ]);
  },
);

test("stores a large table in files with consecutive names", async () => {
  const rows = `${"x".repeat(1_000_000)}\n`.repeat(20);
  const files = await cut(Buffer.from(settings + content + rows), 65_536);
  expect([...files.keys()]).toEqual([
    "0-settings-000001.sql",
    "1-content-000001.sql",
    "1-content-000002.sql",
    "1-content-000003.sql",
  ]);
  expect([...files.values()].join("") === settings + content + rows).toBe(true);
});
