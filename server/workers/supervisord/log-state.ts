// How far the logs of a worker's processes, which are on its server, were taken over into the one log here. Its newest part
// can be put together again from those files, so that another instance goes on at the same offsets.
import * as z from "zod/mini";

/** Up to which byte of which file something was taken over. */
const position = z.object({ inode: z.string(), offset: z.int() });
export type Position = z.infer<typeof position>;

/** Bytes of a file that follow one another in the log here. */
const piece = z.object({ path: z.string(), inode: z.string(), offset: z.int(), length: z.int() });
export type Piece = z.infer<typeof piece>;

const stateSchema = z.object({
  /** By the path of the newest file. */
  positions: z.record(z.string(), position),
  /** Where the log here ends that they led to; what is beyond was written by a service that was killed then. */
  end: z.int(),
  /** What stands before `end`, the oldest first. */
  pieces: z._default(z.array(piece), []),
});
export type LogState = z.infer<typeof stateSchema>;

/** @throws where it is none */
export const parseLogState = (text: string): LogState => stateSchema.parse(JSON.parse(text));

/** Whoever follows a log is not further behind than this. */
const maxPieceBytes = 1024 * 1024;
const maxPieces = 128;

export const lengthOf = (pieces: readonly Piece[]): number =>
  pieces.reduce((sum, { length }) => sum + length, 0);

/** The last `bytes` of them. */
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

/** Those of before and one that follows them, as far as they are kept. */
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
