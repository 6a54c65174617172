// Extracts what a stream holds between two marks. What a login shell writes before the first mark is not output of the command,
// and a stream that ends without the second mark was cut off.

type BetweenMarks = {
  /** Returns what of a piece lies between the marks. The parts share the piece's memory, or are small. */
  take(piece: Buffer): Buffer[];
  /** Whether the second mark was seen. */
  hasEnded(): boolean;
};

export function createBetweenMarks(start: string, end: string): BetweenMarks {
  const startMark = Buffer.from(`${start}\n`);
  const endMark = Buffer.from(`${end}\n`);
  let state: "before" | "between" | "after" = "before";
  /** Bytes that may be the beginning of a mark. */
  let held = Buffer.alloc(0);

  function take(piece: Buffer): Buffer[] {
    if (state === "after" || piece.length === 0) return [];
    const isBefore = state === "before";
    const mark = isBefore ? startMark : endMark;
    // A mark may lie across two pieces, so the first bytes of this one are searched together with the held bytes.
    const joined =
      held.length === 0 ? piece : Buffer.concat([held, piece.subarray(0, mark.length)]);
    const whole = held.length > 0 && piece.length > mark.length ? null : joined;
    const at = joined.indexOf(mark);
    if (at >= 0) {
      const rest = restBehind(piece, joined.length - held.length, joined, at + mark.length);
      held = Buffer.alloc(0);
      state = isBefore ? "between" : "after";
      return isBefore ? take(rest) : nonEmpty(joined.subarray(0, at));
    }
    if (whole === null) {
      // No mark lies across the border, so the held bytes are content, and the piece is searched by itself.
      const before = held;
      held = Buffer.alloc(0);
      return isBefore ? take(piece) : [before, ...take(piece)];
    }
    const kept = heldBytes(whole, mark);
    const content = whole.subarray(0, whole.length - kept);
    held = Buffer.from(whole.subarray(whole.length - kept));
    return isBefore ? [] : nonEmpty(content);
  }

  return { take, hasEnded: () => state === "after" };
}

const nonEmpty = (part: Buffer): Buffer[] => (part.length === 0 ? [] : [part]);

/** Returns the part of a piece behind an offset in the buffer that the piece was joined into. */
function restBehind(piece: Buffer, fromPiece: number, joined: Buffer, end: number): Buffer {
  const used = end - (joined.length - fromPiece);
  return piece.subarray(Math.max(0, used));
}

/** Number of trailing bytes that could be the beginning of the mark. */
function heldBytes(bytes: Buffer, mark: Buffer): number {
  const tail = bytes.subarray(Math.max(0, bytes.length - mark.length + 1));
  const [first = 0] = mark;
  for (let at = tail.indexOf(first); at >= 0; at = tail.indexOf(first, at + 1))
    if (tail.subarray(at).equals(mark.subarray(0, tail.length - at))) return tail.length - at;
  return 0;
}
