// Imports a foreign tar archive of a site's folder: it is inspected, and stored as it is.
import { finished } from "node:stream/promises";
import { countOf } from "../../../../contract/count-text.ts";
import { toError } from "../../../to-error.ts";
import type { ForeignFile } from "../../foreign/foreign-file.ts";
import { SourceError, type Intake } from "../source.ts";
import { writeTo } from "../../../write-to.ts";
import { createArchiveInspector, type ArchiveEntry } from "./archive.ts";
import { showName } from "./walk.ts";

/** Files, hard and symbolic links, and folders. A site has no devices. */
const plainTypes = new Set(["0", "1", "2", "5"]);
/** Types that only GNU tar's own format has, with advice. */
const typesOfGnu = new Map([
  ["S", "a file with holes in GNU tar's own format. Pack it with --format=posix as well."],
  ["D", "of an incremental archive of GNU tar. Pack it without --listed-incremental."],
]);
/** Limit of symbolic links, whose paths are kept in memory; more than any site has. */
const maxLinks = 200_000;

export const createFolderIntake = ({ content }: ForeignFile): Intake => ({
  async dump(into, { say }) {
    const names = createNameRules();
    const inspector = createArchiveInspector(names.check);
    try {
      const pieces: AsyncIterable<Buffer> = content;
      for await (const piece of pieces) {
        inspector.inspect(piece);
        names.throwRefused();
        await writeTo(into, piece);
      }
      const { isWhole, entries, bytes, digest } = inspector.summary();
      if (!isWhole)
        throw new SourceError(
          "The archive is cut off or damaged: its end mark is missing. Copy it again.",
        );
      if (entries === 0) throw new SourceError("The archive is empty. Nothing was imported.");
      const top = names.onlyFolder();
      if (top !== null)
        say(
          `Warning: everything in the archive is in the folder ${top}. A restore puts that folder into the site's. To have its content there, pack it with tar -C ${top} .`,
        );
      if (inspector.hasMore())
        say(
          "Warning: something follows the archive's end mark, maybe a second archive. A restore leaves that out. To have it, unpack the file with tar --ignore-zeros, and pack it again.",
        );
      say(`The archive is whole: ${countOf(entries, "entry", "entries")}.`);
      into.end();
      await finished(into, { readable: false });
      return { kind: "folder", entries, bytes, digest };
    } catch (error) {
      into.destroy(toError(error));
      throw error;
    } finally {
      content.destroy();
    }
  },
});

const shown = (path: string): string => showName(Buffer.from(path, "latin1"));
const stepsOf = (path: string): string[] =>
  path.split("/").filter((step) => step !== "" && step !== ".");

/** Refuses entries that could be written outside of the folder that the archive is extracted into. */
function createNameRules() {
  const links = new Set<string>();
  const tops = new Set<string>();
  let hasTopFile = false;
  let refused: string | null = null;

  function whyNot({ path, type, target }: ArchiveEntry): string | null {
    const steps = stepsOf(path);
    const ofGnu = typesOfGnu.get(type);
    if (ofGnu !== undefined) return `${shown(path)} is ${ofGnu}`;
    if (!plainTypes.has(type))
      return `${shown(path)} is a device, a pipe or of an unknown type. Pack it without.`;
    if (path.startsWith("/"))
      return `${shown(path)} is an absolute path. Pack it with relative ones: tar -C FOLDER .`;
    if (steps.includes("..")) return `${shown(path)} leads outside by “..”.`;
    if (type === "1" && (target.startsWith("/") || stepsOf(target).includes("..")))
      return `${shown(path)} is a hard link to ${shown(target)}, outside of the archive.`;
    for (let many = 1; many < steps.length; many += 1)
      if (links.has(steps.slice(0, many).join("/")))
        return `${shown(path)} is behind the symbolic link ${shown(steps.slice(0, many).join("/"))}.`;
    if (type === "2") {
      if (links.size === maxLinks) return `it has more than ${maxLinks} symbolic links.`;
      links.add(steps.join("/"));
    }
    return null;
  }

  return {
    check(entry: ArchiveEntry): void {
      refused ??= whyNot(entry);
      const [top, ...rest] = stepsOf(entry.path);
      if (top === undefined) return;
      if (tops.size < 2) tops.add(top);
      if (rest.length === 0 && entry.type !== "5") hasTopFile = true;
    },
    /** @throws SourceError */
    throwRefused(): void {
      if (refused !== null)
        throw new SourceError(`The archive can't be a backup of a site: ${refused}`);
    },
    /** Returns the only top-level folder, which contains everything; null = there is none. */
    onlyFolder: (): string | null => {
      const [top] = tops;
      return tops.size === 1 && !hasTopFile && top !== undefined ? shown(top) : null;
    },
  };
}
