// Splits the dump of one database into files of an archive that fit into memory, because an archive has a file's size before its
// content. Views begin a new file, so that they can be created once all databases have the tables that they may read.
import { Writable } from "node:stream";
import { callbackify } from "node:util";

/** Names of the parts, in the order of the dump. */
const parts = { settings: "0-settings", content: "1-content", views: "2-views" } as const;
type Part = keyof typeof parts;

const pieceBytes = 8 * 1024 * 1024;
/** Bytes of a line that are enough to recognize it. */
const headBytes = 48;
const newline = 0x0a;
const dash = 0x2d;
const letterD = 0x44;

const contentHead = /^-- (?:Table structure|Sequence structure|Temporary|Dumping) /;
const viewsHead = /^-- Final view structure for view /;

/**
 * @param write receives a file: its name, without a folder, and its content
 * @returns a stream for the dump
 */
export function createPieces(
  write: (name: string, content: readonly Buffer[]) => Promise<void>,
): Writable {
  let part: Part = "settings";
  let number = 0;
  let held: Buffer[] = [];
  let heldBytes = 0;
  /** The beginning of a line, too short yet to recognize it. */
  let begun: Buffer = Buffer.alloc(0);
  let isLineStart = true;
  /** Whether between `DELIMITER ;;` and `DELIMITER ;`, because the body of a routine may contain lines that look like headings. */
  let isBody = false;

  const hold = (bytes: Buffer) => {
    if (bytes.length === 0) return;
    held.push(bytes);
    heldBytes += bytes.length;
  };
  async function flush(): Promise<void> {
    if (heldBytes === 0) return;
    const content = held;
    held = [];
    heldBytes = 0;
    number += 1;
    await write(`${parts[part]}-${String(number).padStart(6, "0")}.sql`, content);
  }

  /** @returns the part that begins with the line; null = none */
  function partOf(head: string): Part | null {
    if (head.startsWith("DELIMITER ")) isBody = head.startsWith("DELIMITER ;;");
    if (isBody) return null;
    if (part === "settings" && contentHead.test(head)) return "content";
    return part !== "views" && viewsHead.test(head) ? "views" : null;
  }

  async function take(piece: Buffer): Promise<void> {
    // Copied, because the memory of the piece is reused.
    const chunk = Buffer.concat([begun, piece]);
    begun = Buffer.alloc(0);
    let from = 0;
    let at = isLineStart ? 0 : chunk.indexOf(newline) + 1;
    isLineStart = isLineStart || at > 0;
    while (isLineStart && at < chunk.length) {
      const lineEnd = chunk.indexOf(newline, at);
      if (lineEnd < 0 && chunk.length - at < headBytes) {
        begun = chunk.subarray(at);
        break;
      }
      if (chunk[at] === dash || chunk[at] === letterD) {
        const to = Math.min(at + headBytes, lineEnd < 0 ? chunk.length : lineEnd);
        const next = partOf(chunk.toString("latin1", at, to));
        if (next !== null) {
          hold(chunk.subarray(from, at));
          await flush();
          from = at;
          part = next;
          number = 0;
        }
      }
      isLineStart = lineEnd >= 0;
      at = lineEnd < 0 ? chunk.length : lineEnd + 1;
    }
    hold(chunk.subarray(from, chunk.length - begun.length));
    if (heldBytes >= pieceBytes) await flush();
  }

  const takeCalled = callbackify(take);
  const endCalled = callbackify(async () => {
    hold(begun);
    await flush();
  });
  return new Writable({
    write: (piece: Buffer, _encoding, done) => takeCalled(piece, done),
    final: (done) => endCalled(done),
  });
}
