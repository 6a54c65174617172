// Copies one table from one database into the other, and computes checksums of both.
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { from as copyFrom, to as copyTo } from "pg-copy-streams";
import { explainMoveError } from "./move-error.ts";
import type { Side } from "./side.ts";
import type { Table } from "./structure.ts";

/**
 * Rows are copied as text, which all versions of PostgreSQL read alike, with a few network packets in memory.
 * @param onBytes called with the number of bytes so far
 * @throws MoveError
 */
export async function copyTable(
  source: Side,
  target: Side,
  { name, columns }: Table,
  onBytes: (bytes: number) => void,
): Promise<{ rows: number; bytes: number }> {
  let bytes = 0;
  const count = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      onBytes(bytes);
      done(null, chunk);
    },
  });
  // `copy … to` accepts a partitioned table only as a query.
  const out = source.client.query(copyTo(`copy (select ${columns} from ${name}) to stdout`));
  const into = target.client.query(copyFrom(`copy ${name} (${columns}) from stdin`));
  let failed = source;
  into.once("error", () => (failed = target));
  out.once("error", () => (failed = source));
  try {
    await pipeline(out, count, into);
  } catch (error) {
    throw explainMoveError(error, failed.place);
  }
  return { rows: into.rowCount, bytes };
}

/** Returns the number of rows, and a checksum that does not depend on their order: the sum of 64 bits of each row's SHA-256. */
export async function summarize(
  { query }: Side,
  { name, columns }: Table,
): Promise<{ rows: string; checksum: string } | undefined> {
  const [summary] = await query<{ rows: string; checksum: string }>(
    `select count(*) as rows,
       coalesce(sum(('x' || encode(substr(sha256(convert_to(row(${columns})::text, 'UTF8')), 1, 8), 'hex'))::bit(64)::bigint::numeric), 0) as checksum
     from ${name}`,
  );
  return summary;
}
