// Writes, compares and deletes the program files of a server's workers, and deletes their logs.
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
      // An unchanged file is not read again: each read takes a command, which delays the poll.
      const isKnown = worker.fileText !== null && hash === sha256(worker.fileText);
      if (isFirst && hash !== undefined && !isKnown) {
        worker.fileText = await readText(machine, path);
        const sections = sectionsIn(worker.fileText ?? "", names);
        for (const [number, slot] of worker.slots) slot.setSection(sections.get(number) ?? null);
      } else if (!isFirst || isKnown) noteFile(worker, path, hash);
    }
  }

  /** Makes supervisord read its configuration after files were deleted. Ignores that it cannot read files of others. */
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
   * Writes the program file with the sections of the worker's slots, if it differs.
   * @param isForStart whether a program is added next: then the file is always written, and the folder of the log created
   * @throws RpcFault where supervisord cannot read its configuration; the file then has its previous content
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
      // If sections were only removed, the cause is another file, and supervisord has already removed their groups.
      if (!isForStart && sections.every((section) => before?.includes(section) === true)) return;
      // A file that supervisord cannot read would keep it from reading all others.
      await put(before);
      throw error;
    }
  }

  /** Writes the file with its present content, to check that it can be written. */
  async function rewrite({ installed }: Connected, { id, fileText: text }: SupervisordWorker) {
    if (text !== null) await writeText(machine, pathOf(installed, id), text);
  }

  /** Deletes the logs and the program file of a removed worker. */
  async function clean({ folder, logFolder }: Installed, id: number): Promise<void> {
    const log = names.logOf(logFolder, id, 0);
    // Also deletes the temporary file that an interrupted write may have left.
    const file = `${folder}/${names.fileOf(id, ".")}`;
    await removeStarting(machine, [log.replace(/0\.log$/, ""), file]);
    // supervisord creates the log of a group up to a second after the group, but not its folder.
    const others = [...workers.values()].filter((worker) => worker.id !== id);
    const isInUse = others.some(({ slots }) => slots.values().some((slot) => slot.isThere()));
    if (!isInUse) await removeEmptyFolder(machine, dirname(log));
  }

  return { compare, write, rewrite, clean };
}
