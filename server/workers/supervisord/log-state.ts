// How far the log files of a worker's processes on its server were merged into the local log. From the pieces, another instance
// can rebuild the newest part of that log, and continue at the same offsets.
import * as z from "zod/mini";

/** File and offset up to which a process's log was merged. */
const position = z.object({ inode: z.string(), offset: z.int() });
export type Position = z.infer<typeof position>;

/** Bytes of a file that are contiguous in the local log. */
const piece = z.object({ path: z.string(), inode: z.string(), offset: z.int(), length: z.int() });
export type Piece = z.infer<typeof piece>;

const stateSchema = z.object({
  /** By the path of the process's newest file. */
  positions: z.record(z.string(), position),
  /** End of the local log at these positions; anything beyond was written by a service that was killed before it stored them. */
  end: z.int(),
  /** The pieces before `end`, the oldest first. */
  pieces: z._default(z.array(piece), []),
});
export type LogState = z.infer<typeof stateSchema>;

/** @throws where the text has another format */
export const parseLogState = (text: string): LogState => stateSchema.parse(JSON.parse(text));

/** Clients that follow a log are not further behind than this. */
const maxPieceBytes = 1024 * 1024;
const maxPieces = 128;

export const lengthOf = (pieces: readonly Piece[]): number =>
  pieces.reduce((sum, { length }) => sum + length, 0);

/** Returns the last `bytes` of the pieces. */
export function lastOf(pieces: readonly Piece[], bytes: number): Piece[] {
  let before = lengthOf(pieces) - bytes;
  return pieces.flatMap((one) => {
    const cut = Math.min(Math.max(before, 0), one.length);
    before -= one.length;
    return cut === one.length
      ? []
      : [{ ...one, offset: one.offset + cut, length: one.length - cut }];
  });
}

/** Appends a piece, and drops the oldest beyond the limits. */
export function withPiece(pieces: readonly Piece[], next: Piece): Piece[] {
  const last = pieces.at(-1);
  const isNext =
    last?.path === next.path &&
    last.inode === next.inode &&
    last.offset + last.length === next.offset;
  const all = isNext
    ? [...pieces.slice(0, -1), { ...last, length: last.length + next.length }]
    : [...pieces, next];
  return lastOf(all.slice(-maxPieces), maxPieceBytes);
}
