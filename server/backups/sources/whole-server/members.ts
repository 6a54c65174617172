// Reads the archive of a whole server by what is in it: each database as one content, in however many files it lies.
import { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import { databaseOf } from "./names.ts";
import { readFiles } from "./tar.ts";

type Member = {
  path: string;
  /** Whose content it is, which may go on in the files that follow; null = the file is of none. */
  database: string | null;
  content: Readable;
};

/** As `readFiles`: what nobody has read of one is skipped once the next one is asked for. */
export async function* readMembers(from: Readable): AsyncGenerator<Member> {
  const files = readFiles(from);
  let file = await files.next();
  while (file.done !== true) {
    const { path, content: first } = file.value;
    const database = databaseOf(path);
    if (database === null) {
      yield { path, database, content: first };
      file = await files.next();
      continue;
    }
    const isGoingOn = () => file.done !== true && databaseOf(file.value.path) === database;
    const content = Readable.from(
      (async function* () {
        while (file.done !== true && isGoingOn()) {
          yield* file.value.content;
          file = await files.next();
        }
      })(),
      { objectMode: false },
    );
    // Whoever reads it hears of it; so does whoever asks for the next one.
    content.on("error", () => undefined);
    yield { path, database, content };
    content.destroy();
    await finished(content).catch(() => undefined);
    while (isGoingOn()) file = await files.next();
  }
}
