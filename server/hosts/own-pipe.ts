// A pipe for a command's output that is read into the same memory again and again. Node allocates memory for each piece of an
// ordinary pipe, whose garbage collection took nearly half of a backup's processor time.
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const memoryBytes = 256 * 1024;

type OwnPipe = {
  /** The command's end of the pipe; the caller closes it here once the command has it. */
  writing: Socket;
  /** Resolves when the command has closed its end and all output is consumed; rejects with what `take` threw. */
  taken: Promise<void>;
  /** Stops reading. */
  close(): void;
};

/** @param take may keep its piece until it resolves */
export async function openOwnPipe(take: (piece: Buffer) => Promise<void>): Promise<OwnPipe> {
  // A private folder, so that no other account can reach the socket.
  const folder = await mkdtemp(join(tmpdir(), "quarterdeck-pipe-"));
  const path = join(folder, "pipe");
  const server = createServer({ pauseOnConnect: true });
  try {
    server.listen(path);
    await once(server, "listening");
    const memory = Buffer.allocUnsafeSlow(memoryBytes);
    const reading = connect({
      path,
      onread: {
        buffer: memory,
        callback(bytes) {
          Promise.try(take, memory.subarray(0, bytes)).then(
            () => reading.resume(),
            (error: Error) => reading.destroy(error),
          );
          // Pauses reading until `take` resolves.
          return false;
        },
      },
    });
    const [connection] = await Promise.all([once(server, "connection"), once(reading, "connect")]);
    const writing: Socket = connection[0];
    const taken = once(reading, "close").then(() => undefined);
    taken.catch(() => undefined);
    return { writing, taken, close: () => reading.destroy() };
  } finally {
    server.close();
    await rm(folder, { recursive: true });
  }
}
