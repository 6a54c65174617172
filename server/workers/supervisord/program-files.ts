// The program files of a server's workers, and the logs beside them: written, compared with what was written, and deleted.
import { dirname } from "node:path";
import type { Connected } from "./contact.ts";
import {
  hashesIn,
  makeFolder,
  readText,
  removeEmptyFolder,
  removeFiles,
  removeStarting,
  sha256,
  writeText,
} from "./files.ts";
import type { Installed } from "./installed.ts";
import type { Machine } from "./machine.ts";
import { fileText, type Names, sectionsIn } from "./program-file.ts";
import { isAway, type Rpc } from "./rpc.ts";
import type { SupervisordWorker } from "./worker.ts";
import { RpcFault } from "./xml-rpc.ts";

type ProgramFilesOptions = {
  names: Names;
  machine: Machine;
  workers: ReadonlyMap<number, SupervisordWorker>;
};

export function createProgramFiles({ names, machine, workers }: ProgramFilesOptions) {
  const pathOf = ({ folder, suffix }: Installed, id: number) =>
    `${folder}/${names.fileOf(id, suffix)}`;

  /** Compares the program files with what was written, and reads them for the first time. */
  async function compare({ rpc, installed }: Connected, isFirst: boolean): Promise<void> {
    const expected = new Map<string, string>();
    for (const { id, fileText: text } of workers.values())
      if (text !== null) expected.set(names.fileOf(id, installed.suffix), sha256(text));
    const hashes = await hashesIn(machine, installed.folder, names.prefix, expected);
    const strays: string[] = [];
    for (const name of hashes.keys()) {
      const id = names.parseFile(name);
      if (id !== null && !workers.has(id)) strays.push(`${installed.folder}/${name}`);
    }
    if (strays.length > 0) {
      await removeFiles(machine, strays);
      await forget(rpc);
    }
    for (const worker of workers.values()) {
      const path = pathOf(installed, worker.id);
      const hash = hashes.get(names.fileOf(worker.id, installed.suffix));
      // One that is as it was is not read again: each takes a command, and every state waits for that.
      const isKnown = worker.fileText !== null && hash === sha256(worker.fileText);
      if (isFirst && hash !== undefined && !isKnown) {
        worker.fileText = await readText(machine, path);
        const sections = sectionsIn(worker.fileText ?? "", names);
        for (const [number, slot] of worker.slots) slot.setSection(sections.get(number) ?? null);
      } else if (!isFirst || isKnown) noteFile(worker, path, hash);
    }
  }

  /** Has supervisord forget what has gone from the files; while it cannot read those of others, that waits for them. */
  async function forget(rpc: Rpc): Promise<void> {
    try {
      await rpc("reloadConfig");
    } catch (error) {
      if (!(error instanceof RpcFault)) throw error;
    }
  }

  function noteFile(worker: SupervisordWorker, path: string, hash: string | undefined): void {
    const isAsWritten = hash === (worker.fileText === null ? undefined : sha256(worker.fileText));
    const what = hash === undefined ? "deleted" : "changed";
    if (isAsWritten !== (worker.fileNotice === null)) worker.isFileDue = false;
    if (!isAsWritten) for (const slot of worker.slots.values()) slot.noteEdit();
    worker.fileNotice = isAsWritten
      ? null
      : `${path} was ${what} on the server, not by Quarterdeck. supervisord goes by that once it is told to update. Restart the worker to write the file again and to run what is set here.`;
  }

  /**
   * Brings the file in line with what supervisord has, and is to have.
   * @param isForStart a program of it is about to be added, which takes the file as it is on the server just now, and
   * needs the folder of its log
   * @throws RpcFault where supervisord cannot read it; then it is as it was
   */
  async function write(
    { rpc, installed }: Connected,
    worker: SupervisordWorker,
    isForStart = false,
  ): Promise<void> {
    const sections = [...worker.slots.values()]
      .sort((a, b) => a.number - b.number)
      .flatMap((slot) => slot.section() ?? []);
    const text = fileText(sections);
    const before = worker.fileText;
    if (text === before && worker.fileNotice === null && !isForStart) return;
    const path = pathOf(installed, worker.id);
    const put = async (to: string | null) => {
      if (to === null) await removeFiles(machine, [path]);
      else await writeText(machine, path, to);
      worker.fileText = to;
    };
    if (isForStart)
      await makeFolder(machine, dirname(names.logOf(installed.logFolder, worker.id, 0)));
    await put(text);
    worker.fileNotice = null;
    worker.isFileDue = false;
    try {
      await rpc("reloadConfig");
    } catch (error) {
      if (isAway(error)) throw error;
      // A file of somebody else: what has gone from this one, supervisord has let go of already.
      if (!isForStart && sections.every((section) => before?.includes(section) === true)) return;
      // A file that it cannot read would keep it from reading everybody else's.
      await put(before);
      throw error;
    }
  }

  /** Writes the file as it was, to learn whether it can be written. */
  async function rewrite({ installed }: Connected, { id, fileText: text }: SupervisordWorker) {
    if (text !== null) await writeText(machine, pathOf(installed, id), text);
  }

  /** Deletes what a worker leaves: its logs, and its program file. */
  async function clean({ folder, logFolder }: Installed, id: number): Promise<void> {
    const log = names.logOf(logFolder, id, 0);
    // A cut connection may have left the program file under the name that it was written by.
    const file = `${folder}/${names.fileOf(id, ".")}`;
    await removeStarting(machine, [log.replace(/0\.log$/, ""), file]);
    // supervisord makes the log of a group up to a second after the group, and not the folder for it.
    const others = [...workers.values()].filter((worker) => worker.id !== id);
    const isInUse = others.some(({ slots }) => slots.values().some((slot) => slot.isThere()));
    if (!isInUse) await removeEmptyFolder(machine, dirname(log));
  }

  return { compare, write, rewrite, clean };
}
