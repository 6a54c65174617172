// Collects what a run needs to know of a SQLite database on another machine, by one command, because each one takes a round trip.
import { accountName } from "../../../../hosts/account.ts";
import { sizeInWords } from "../../../formatting.ts";
import { lookForZstd } from "../../compress-there.ts";
import { SourceError } from "../../source.ts";
import { sqliteError } from "../failures.ts";
import { collations } from "./check.ts";
import { ask, listFolders, markOf, readFolderName, type Step, type Target } from "./shell.ts";

export type Survey = {
  /** Output of `look`. */
  state: string;
  version: string;
  hasZstd: boolean;
  sizeBytes: number;
  /** Whether there is space for a copy. */
  hasRoom: boolean;
  /** Whether the account may create the folder that a restore needs. */
  mayRestore: boolean;
  /** Our folders of interrupted work. */
  left: NonNullable<ReturnType<typeof readFolderName>>[];
  /** Result of opening the database for writing, which rolls back an interrupted transaction; null where there is no database. */
  opened: { recovery: Step; collations: Step } | null;
};

const script = `s=$(look); tell "$s" "$(q -version)"
${lookForZstd} && tell yes || tell no
b=$(bytes); tell "$b"
place $((b / 1024 + 1)) >/dev/null && tell yes || tell no
[ -w "$parent" ] && [ -x "$parent" ] && tell yes || tell no
tell "$(${listFolders})"
if [ "$s" = open ]; then
  step q "$real" 'select count(*) from sqlite_master'
  step q -readonly "$real" "$2"
fi`;

/** @throws SourceError where the database cannot be inspected */
export async function survey(target: Target, signal: AbortSignal): Promise<Survey> {
  const { path } = target;
  const { word, step } = await ask(target, script, [markOf(path), collations], { signal });
  const [state, version, zstd, bytes, room, beside, left] = [
    word(),
    word(),
    word(),
    word(),
    word(),
    word(),
    word(),
  ];
  return {
    state,
    version: version.split(" ")[0] ?? "",
    hasZstd: zstd === "yes",
    sizeBytes: Number(bytes),
    hasRoom: room === "yes",
    mayRestore: beside === "yes",
    left: left.split("\n").flatMap((name) => readFolderName(name) ?? []),
    opened: state === "open" ? { recovery: step(), collations: step() } : null,
  };
}

/** @throws SourceError where there is no usable database */
export function refuseState(state: string, { host, name, path }: Target): void {
  const account = accountName(host.account);
  switch (state) {
    case "open":
      return;
    case "missing":
      throw new SourceError(
        `${path} is not there. Correct the path of database “${name}” in the inventory, or restore a backup of it.`,
      );
    case "denied":
      throw new SourceError(
        `${path} (database ${name}) cannot be looked at by ${account}, the account that works on it.`,
      );
    case "closed":
      throw sqliteError(path, "unable to open database file", 14);
    case "alien":
      throw sqliteError(path, "file is not a database", 26);
    default:
      throw new SourceError(`${path} (database ${name}) is not a file.`);
  }
}

/** @throws SourceError */
export function refuseWithoutRoom(
  hasRoom: boolean,
  sizeBytes: number,
  { host, path }: Target,
): void {
  if (!hasRoom)
    throw new SourceError(
      `A copy of ${path} needs ${sizeInWords(sizeBytes)} on its server, beside it or in /var/tmp, and ${accountName(host.account)} has that room in neither. Free some space there.`,
    );
}
