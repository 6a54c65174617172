// Writes a backup into our folder on another machine, and checks it there.
import type { Readable } from "node:stream";
import { posix } from "node:path";
import { accountName } from "../../../../hosts/account.ts";
import { SourceError } from "../../source.ts";
import type { Unchecked } from "../check-queries.ts";
import { check, checkArguments, copyName, readCheck } from "./check.ts";
import { ask, type Step, type Target, type Told } from "./shell.ts";

/** Beside the database, from where it can be renamed over it; or anywhere with enough space. */
type Where = "beside" | "anywhere";

const script = `${check}save() { cat >${copyName} && sync -- ${copyName}; }
p=$parent
if [ "$2" = anywhere ]; then b=$(bytes); p=$(place $((b / 1024 + 1))) || p=$parent; fi
d=$p/$1; tell "$d"; rm -f -- "$d/note"; rm -rf -- "$d"
step mkdir -m 700 -- "$d" || exit 0
cd -- "$d" || exit 1
[ "$2" != anywhere ] || keep "$d"
step save || exit 0
check "$3" "$4"`;

type Receive = {
  /** Name of the folder that it is written into. */
  folder: string;
  where: Where;
  /** A script that is run in that folder afterwards. */
  more?: string;
  signal: AbortSignal;
};

/**
 * @returns also the rest of the output, that of `more`
 * @throws SourceError where it could not be written or is damaged, the error of `from`, ServerAway, or the signal's reason
 */
export async function receiveThere(
  target: Target,
  from: Readable,
  { folder: name, where, more = "", signal }: Receive,
): Promise<{ tables: Record<string, number>; notes: Unchecked[]; told: Told }> {
  const args = [name, where, ...checkArguments];
  const told = await ask(target, `${script}\n${more}`, args, { input: from, signal });
  const { word, step } = told;
  const folder = word();
  const file = posix.join(folder, copyName);
  const folderMade = step();
  if (folderMade.exitCode !== 0) throw notWritten(file, folderMade, target);
  const saved = step();
  if (saved.exitCode !== 0) throw notWritten(file, saved, target);
  const steps = [step(), step(), step()] as const;
  return { ...(await readCheck(target, steps, { folder, shown: file, signal })), told };
}

const reasons: readonly (readonly [RegExp, string | ((account: string) => string)])[] = [
  [/No space left/, "its disk is full."],
  [/quota exceeded/i, "the account has used up its quota."],
  [/Permission denied|not permitted/, (account) => `${account} may not write to its folder.`],
  [/Read-only file system/, "its disk is mounted read-only."],
  [/No such file|Not a directory/, "its folder is not there."],
];

function notWritten(file: string, { text }: Step, { host }: Target): SourceError {
  const reason = reasons.find(([words]) => words.test(text))?.[1] ?? text.trim();
  const words = typeof reason === "string" ? reason : reason(accountName(host.account));
  return new SourceError(`${file} could not be written: ${words}`);
}
