// Reads the archive of a whole server by database: files of the same database are one content.
import { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import { databaseOf } from "./names.ts";
import { readFiles } from "./tar.ts";

type Member = {
  path: string;
  /** The database that the content belongs to, which may continue in the next files; null = none. */
  database: string | null;
  content: Readable;
};

/** Like `readFiles`: what was not read of a content is skipped once the next one is requested. */
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
    // The reader of the content gets the error, and so does the request for the next one.
    content.on("error", () => undefined);
    yield { path, database, content };
    content.destroy();
    await finished(content).catch(() => undefined);
    while (isGoingOn()) file = await files.next();
  }
}
