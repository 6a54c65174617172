// The source for importing a file that Quarterdeck did not make: it is stored as a backup of the database or site would be.
import type { Readable } from "node:stream";
import { streamOf } from "../../storage/stream-of.ts";
import type { Host } from "../../hosts/host.ts";
import { SourceError, type Attempt, type Intake, type Source } from "../sources/source.ts";
import type { Engine } from "../subject.ts";
import type { ForeignFile } from "./foreign-file.ts";
import type { ImportRoom } from "./import-room.ts";
import { acceptedKinds, neededWords } from "./kinds.ts";
import { openForeign } from "./unpack.ts";

type ImportSourceOptions = {
  /** The service's machine. */
  host: Pick<Host, "run">;
  /** The source that the backup is for. */
  target: Source;
  engine: Engine;
  /** Names of the database or site, and of the file, for people. */
  targetName: string;
  fileName: string;
  /** Opens the stored file. @throws StorageError, DamagedBackup */
  open(signal: AbortSignal): Promise<Readable>;
  /** Limit of the decompressed size. */
  room: ImportRoom;
};

/** @param id of the backup */
export function createImportSource(id: number, options: ImportSourceOptions): Source {
  const { target, engine, targetName, fileName, room } = options;
  let opened: { file: ForeignFile; intake: Intake } | null = null;

  async function* bounded(content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let bytes = 0;
    for await (const piece of content) {
      bytes += piece.length;
      if (bytes > room.bytes) throw new SourceError(`The file unpacks to more than ${room.words}`);
      yield piece;
    }
  }

  function accept(file: ForeignFile): Intake {
    if (target.intake === undefined || !acceptedKinds[engine].includes(file.kind))
      throw new SourceError(
        `The file is ${file.words}. A backup of ${targetName} needs ${neededWords[engine]}.${
          engine === "postgres" && file.kind === "tar"
            ? " If it has a folder that pg_dump --format=directory made, unpack it, make SQL text of the folder, and import that: pg_restore --file=FILE.sql FOLDER"
            : " Nothing was imported."
        }`,
      );
    // Closing the content closes the file.
    const end = () => file.content.destroy();
    const content = streamOf(bounded(file.content), end, { isOneByOne: true });
    return target.intake({ ...file, content });
  }

  return {
    ...target,
    // The service itself compresses the content.
    compressed: async () => null,
    tools: () => ({}),
    rehearse: async () => `Importing ${fileName}.`,
    hooks: {
      async before(say, signal) {
        const file = await openForeign(options.host, await options.open(signal));
        say(`The file is ${file.words}.`);
        const intake = accept(file);
        opened = { file, intake };
        await intake.prepare?.({ id, say, signal });
      },
      async after(say) {
        if (opened === null) return null;
        const { file, intake } = opened;
        file.content.destroy();
        await intake.discard?.({ id, say, signal: new AbortController().signal });
        return null;
      },
    },
    async dump(into, attempt: Attempt) {
      if (opened === null) throw new Error(`The file of import ${id} is not open.`);
      return opened.intake.dump(into, attempt);
    },
  };
}
