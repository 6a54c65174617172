// The packets of SFTP, version 3: https://datatracker.ietf.org/doc/html/draft-ietf-secsh-filexfer-02, with what OpenSSH
// adds to it in its file PROTOCOL.

export const requests = {
  init: 1,
  open: 3,
  close: 4,
  read: 5,
  write: 6,
  opendir: 11,
  readdir: 12,
  remove: 13,
  mkdir: 14,
  rmdir: 15,
  realpath: 16,
  stat: 17,
  rename: 18,
  extended: 200,
} as const;

export const answers = {
  version: 2,
  status: 101,
  handle: 102,
  data: 103,
  name: 104,
  attrs: 105,
  extended: 201,
} as const;

export const statuses = {
  ok: 0,
  end: 1,
  noFile: 2,
  denied: 3,
  failure: 4,
  unsupported: 8,
} as const;

const has = { size: 1, ids: 2, mode: 4, times: 8 };

export type Attributes = { sizeBytes: number | null; mode: number | null };

/** A number of 32 or 64 bits, or bytes with their length before them. */
export type Field = number | bigint | string | Buffer;

/** All but the bytes of a last field that is large, so that those are not copied. */
export function packet(type: number, id: number | null, fields: readonly Field[], tail?: Buffer) {
  const parts = fields.map((field): Buffer => {
    if (typeof field === "number") {
      const four = Buffer.allocUnsafe(4);
      four.writeUInt32BE(field);
      return four;
    }
    if (typeof field === "bigint") {
      const eight = Buffer.allocUnsafe(8);
      eight.writeBigUInt64BE(field);
      return eight;
    }
    const bytes = Buffer.from(field);
    return Buffer.concat([lengthOf(bytes.length), bytes]);
  });
  if (tail !== undefined) parts.push(lengthOf(tail.length));
  const head = Buffer.alloc(id === null ? 5 : 9);
  const rest = parts.reduce((sum, { length }) => sum + length, 0);
  head.writeUInt32BE(head.length - 4 + rest + (tail?.length ?? 0));
  head.writeUInt8(type, 4);
  if (id !== null) head.writeUInt32BE(id, 5);
  return Buffer.concat([head, ...parts]);
}

function lengthOf(bytes: number): Buffer {
  const four = Buffer.allocUnsafe(4);
  four.writeUInt32BE(bytes);
  return four;
}

/** Of what is made, for the account alone. */
export const modeOf = (mode: number): Field[] => [has.mode, mode];
export const noAttributes: Field[] = [0];

/** Reads the fields of an answer one after the other. @throws RangeError where it is too short */
export function createReader(content: Buffer) {
  let at = 0;
  const reader = {
    number(): number {
      at += 4;
      return content.readUInt32BE(at - 4);
    },
    big(): bigint {
      at += 8;
      return content.readBigUInt64BE(at - 8);
    },
    bytes(): Buffer {
      const length = reader.number();
      if (at + length > content.length) throw new RangeError("A packet of SFTP is too short.");
      at += length;
      return content.subarray(at - length, at);
    },
    text: (): string => reader.bytes().toString(),
    attributes(): Attributes {
      const flags = reader.number();
      const sizeBytes = flags & has.size ? Number(reader.big()) : null;
      if (flags & has.ids) at += 8;
      const mode = flags & has.mode ? reader.number() : null;
      if (flags & has.times) at += 8;
      return { sizeBytes, mode };
    },
    isAtEnd: (): boolean => at >= content.length,
  };
  return reader;
}

export type Reader = ReturnType<typeof createReader>;

const largestPacket = 1024 * 1024;

/** Cuts what arrives into packets; the memory of a piece is used again for the next. @throws where it is no SFTP */
export function createCutter(take: (type: number, content: Buffer) => void) {
  let held: Buffer = Buffer.alloc(0);
  return (piece: Buffer): void => {
    // A packet that was taken may still be in use.
    held = Buffer.concat([held, piece]);
    let at = 0;
    while (held.length - at >= 5) {
      const length = held.readUInt32BE(at);
      if (length < 1 || length > largestPacket)
        throw new Error("The server's answer is not SFTP. Something may write to each session.");
      if (held.length - at < 4 + length) break;
      take(held.readUInt8(at + 4), held.subarray(at + 5, at + 4 + length));
      at += 4 + length;
    }
    held = held.subarray(at);
  };
}
