// Files over a session of SFTP: sent and read with many requests on their way, so that a long way costs no time.
import { answers, modeOf, noAttributes, requests, statuses } from "./packets.ts";
import type { Attributes, Field } from "./packets.ts";
import { SftpRefusal, type SftpSession } from "./session.ts";

/** Every server takes so much at once. */
const pieceBytes = 32 * 1024;
/** 4 MB on their way. */
const maxUnderWay = 128;

const flags = { read: 0x01, write: 0x02, create: 0x08, truncate: 0x10 };
const kindMask = 0o170000;
const directory = 0o040000;
const regular = 0o100000;

export type Entry = { name: string; attributes: Attributes };

export const isFolder = ({ mode }: Attributes): boolean =>
  mode !== null && (mode & kindMask) === directory;
export const isFile = ({ mode }: Attributes): boolean =>
  mode === null || (mode & kindMask) === regular;

export const isStatus = (error: unknown, status: number): boolean =>
  error instanceof SftpRefusal && error.status === status;

export function filesOver(session: SftpSession) {
  const { request, extensions } = session;
  const plain = async (type: number, ...fields: Field[]): Promise<void> =>
    void (await request(type, fields));
  /** Null where the server cannot do that; some say only then that they cannot. */
  async function extended(name: string, ...fields: Field[]) {
    if (!extensions.has(name)) return null;
    try {
      return await request(requests.extended, [name, ...fields]);
    } catch (error) {
      if (isStatus(error, statuses.unsupported)) return null;
      throw error;
    }
  }

  async function openHandle(type: number, fields: readonly Field[]): Promise<Buffer> {
    const { content } = await request(type, fields);
    return content.bytes();
  }

  async function read(handle: Buffer, from: number, bytes: number): Promise<Buffer | null> {
    try {
      const { content } = await request(requests.read, [handle, BigInt(from), bytes]);
      return content.bytes();
    } catch (error) {
      if (isStatus(error, statuses.end)) return null;
      throw error;
    }
  }

  return {
    mkdir: (path: string) => plain(requests.mkdir, path, ...modeOf(0o700)),
    rmdir: (path: string) => plain(requests.rmdir, path),
    remove: (path: string) => plain(requests.remove, path),
    /** Where something has that name already it fails. */
    rename: (from: string, to: string) => plain(requests.rename, from, to),

    /** Null where nothing is. Links are followed. */
    async stat(path: string): Promise<Attributes | null> {
      try {
        return (await request(requests.stat, [path])).content.attributes();
      } catch (error) {
        if (isStatus(error, statuses.noFile)) return null;
        throw error;
      }
    },

    /** Absolute, links followed where the server does that. */
    async realpath(path: string): Promise<string> {
      const { content } = await request(requests.realpath, [path]);
      content.number();
      return content.text();
    },

    /** @returns whether the server can do that */
    replace: async (from: string, to: string): Promise<boolean> =>
      (await extended("posix-rename@openssh.com", from, to)) !== null,

    async freeBytes(path: string): Promise<number | null> {
      const answer = await extended("statvfs@openssh.com", path);
      if (answer === null) return null;
      const { content } = answer;
      const [, unit = 0n, , , available = 0n] = Array.from({ length: 5 }, () => content.big());
      return Number(unit * available);
    },

    /** Writes all that there is to a file, for this account alone, and has it on the disk where the server can do that. */
    async write(path: string, content: AsyncIterable<Buffer>): Promise<void> {
      const how = flags.write | flags.create | flags.truncate;
      const handle = await openHandle(requests.open, [path, how, ...modeOf(0o600)]);
      const underWay: Promise<unknown>[] = [];
      let at = 0;
      for await (const chunk of content)
        for (let from = 0; from < chunk.length; from += pieceBytes) {
          if (underWay.length >= maxUnderWay) await underWay.shift();
          // The memory of a piece may be used again once it was taken.
          const piece = Buffer.from(chunk.subarray(from, from + pieceBytes));
          const sent = request(requests.write, [handle, BigInt(at)], piece);
          // Told by whoever awaits it.
          sent.catch(() => undefined);
          underWay.push(sent);
          at += piece.length;
        }
      for (const sent of underWay) await sent;
      await extended("fsync@openssh.com", handle);
      await plain(requests.close, handle);
    },

    /** All of a file; what it had at the beginning, if it grows. */
    async *read(path: string, sizeBytes: number): AsyncGenerator<Buffer> {
      const handle = await openHandle(requests.open, [path, flags.read, ...noAttributes]);
      const underWay: { from: number; bytes: number; piece: Promise<Buffer | null> }[] = [];
      for (let asked = 0, given = 0; given < sizeBytes;) {
        for (; asked < sizeBytes && underWay.length < maxUnderWay; asked += pieceBytes) {
          const bytes = Math.min(pieceBytes, sizeBytes - asked);
          const piece = read(handle, asked, bytes);
          piece.catch(() => undefined);
          underWay.push({ from: asked, bytes, piece });
        }
        const first = underWay.shift();
        if (first === undefined) return;
        let piece = await first.piece;
        // A server may give less than it was asked for.
        for (let left = first.bytes; piece !== null && piece.length > 0;) {
          yield piece;
          given += piece.length;
          left -= piece.length;
          if (left === 0) break;
          piece = await read(handle, first.from + first.bytes - left, left);
        }
        if (piece === null || piece.length === 0) break;
      }
      await plain(requests.close, handle);
    },

    /** What is in a folder, links as what they are. */
    async *list(path: string): AsyncGenerator<Entry> {
      const handle = await openHandle(requests.opendir, [path]);
      try {
        for (;;) {
          const { type, content } = await request(requests.readdir, [handle]);
          if (type !== answers.name) break;
          for (let left = content.number(); left > 0; left--) {
            const name = content.text();
            content.bytes();
            const attributes = content.attributes();
            if (name !== "." && name !== "..") yield { name, attributes };
          }
        }
      } catch (error) {
        if (!isStatus(error, statuses.end)) throw error;
      }
      await plain(requests.close, handle);
    },
  };
}

export type SftpFiles = ReturnType<typeof filesOver>;
