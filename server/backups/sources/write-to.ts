import type { Writable } from "node:stream";

/** @returns once the stream is done with the piece. @throws its error, also one that it had before */
export const writeTo = (into: Writable, piece: Buffer): Promise<void> =>
  new Promise((resolve, reject) =>
    into.write(piece, (error) => (error == null ? resolve() : reject(error))),
  );
