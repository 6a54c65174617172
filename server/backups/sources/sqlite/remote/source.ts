// The source for a SQLite database of another machine, whose own `sqlite3` runs as the account of the site.
import type { Readable } from "node:stream";
import type { Attempt, Source } from "../../source.ts";
import { compareTables } from "../../tables.ts";
import { tidying } from "../../folder/place.ts";
import { accountName } from "../../../../hosts/account.ts";
import { sizeInWords } from "../../../formatting.ts";
import { textsOf } from "../check-queries.ts";
import { createSqliteIntake, type Tried } from "../intake.ts";
import { countsIn, countsQuery, readCollations } from "./check.ts";
import { dumpThere } from "./dump.ts";
import { receiveThere } from "./receive.ts";
import { restoreThere } from "./restore.ts";
import { settleThere } from "./settle.ts";
import { ask, clear, folderName, refuseFailure, type Target } from "./shell.ts";
import { refuseState, refuseWithoutRoom, survey, type Survey } from "./survey.ts";

type RemoteSqliteOptions = Pick<Target, "host" | "name" | "path"> & Partial<Target>;

/** Work that runs in this process, whose folders are no leftovers. */
const running = new Set<string>();

async function whileRunning<Result>(folder: string, work: () => Promise<Result>): Promise<Result> {
  running.add(folder);
  try {
    return await work();
  } finally {
    running.delete(folder);
  }
}

const countScript = `s=$(look); tell "$s"
[ "$s" != open ] || { statements=$(q -readonly "$real" "$1"); step q -readonly "$real" "$statements"; }`;

/** Counts the rows of the live database by table, before a restore. @returns null where it does not exist. @throws SourceError */
async function countThere(
  target: Target,
  signal: AbortSignal,
): Promise<Record<string, number> | null> {
  const { word, step } = await ask(target, countScript, [countsQuery], { signal });
  const state = word();
  if (state === "missing") return null;
  refuseState(state, target);
  const counts = step();
  refuseFailure(target.path, counts);
  return countsIn(counts);
}

export function createRemoteSqliteSource({
  busyMs = 20_000,
  keptSeconds = 300,
  tables = null,
  ...options
}: RemoteSqliteOptions): Source & Required<Pick<Source, "warnings">> {
  const target: Target = { ...options, busyMs, keptSeconds, tables };
  const { host, path } = target;
  const folderOf = (use: Parameters<typeof folderName>[0], id: number) => folderName(use, id, path);
  /** Result of the last rehearsal, for the run that follows it. */
  let known: Survey | null = null;
  const looked = async (signal: AbortSignal) => known ?? (await survey(target, signal));

  /** Settles work that could not be cleaned up when its connection broke. @returns lines about what was done; empty = nothing */
  async function settleLeftovers({ left }: Survey, signal: AbortSignal): Promise<string[]> {
    const lines: string[] = [];
    const say = (line: string) => void lines.push(line);
    for (const { use, id } of left.filter(({ use, id }) => !running.has(folderOf(use, id)))) {
      if (use === "restore") {
        const state = await settleThere(target, { id, say, signal });
        say(`A restore of backup ${id} that was cut off is settled: ${path} is ${state}.`);
      } else await clear(target, [folderOf(use, id)]);
    }
    return lines;
  }

  const dump = (isCompressed: boolean, [into, attempt]: Parameters<Source["dump"]>) =>
    whileRunning(folderOf("dump", attempt.id), () =>
      dumpThere(target, isCompressed, into, attempt),
    );

  async function tryOut(from: Readable, { id, signal }: Attempt): Promise<Tried> {
    const folder = folderOf("drill", id);
    try {
      return await whileRunning(folder, () =>
        receiveThere(target, from, { folder, where: "anywhere", signal }),
      );
    } finally {
      from.destroy();
      await clear(target, [folder]);
    }
  }

  let tools: Record<string, string> = {};
  return {
    extension: "sqlite",
    tools: () => tools,

    async rehearse(signal) {
      known = null;
      let found = await survey(target, signal);
      const lines = await settleLeftovers(found, signal);
      if (lines.length > 0) found = await survey(target, signal);
      refuseState(found.state, target);
      if (found.opened !== null) refuseFailure(path, found.opened.recovery);
      refuseWithoutRoom(found.hasRoom, found.sizeBytes, target);
      known = found;
      tools = { sqlite3: found.version };
      const size = sizeInWords(found.sizeBytes);
      return [`SQLite database ${path}, ${size}; sqlite3 ${found.version}.`, ...lines].join(" ");
    },

    async warnings(signal) {
      const { state, mayRestore, opened } = await looked(signal);
      refuseState(state, target);
      return [
        ...(opened === null ? [] : readCollations(path, opened.collations)),
        ...(mayRestore
          ? []
          : [
              `A restore would be refused: ${accountName(host.account)} may not write in the folder of ${path}.`,
            ]),
      ];
    },

    dump: (...args) => dump(false, args),

    async compressed(signal) {
      if (!(await looked(signal)).hasZstd) return null;
      return {
        content: "other",
        async dump(...args) {
          const manifest = await dump(true, args);
          return () => manifest;
        },
      };
    },

    async exists() {
      const { word } = await ask(target, 'tell "$(look)"', [], { signal: tidying() });
      const state = word();
      if (state === "denied") refuseState(state, target);
      return state !== "missing";
    },

    countRows: (signal) => countThere(target, signal),
    isBuiltAside: true,

    async restore(from, attempt, manifest = null) {
      const file = manifest?.kind === "database" ? (manifest.file ?? null) : null;
      try {
        await whileRunning(folderOf("restore", attempt.id), () =>
          restoreThere(target, from, attempt, file),
        );
      } finally {
        from.destroy();
      }
    },

    async drill(from, manifest, attempt) {
      const { tables, notes } = await tryOut(from, attempt);
      return [compareTables(manifest, tables), ...textsOf(notes)].join(" ");
    },

    intake: (file) => createSqliteIntake(file, tryOut),

    settle: (attempt: Attempt) => settleThere(target, attempt),
  };
}
