// Checks a copy on another machine and counts its rows, with the same queries and messages as here.
import { Readable } from "node:stream";
import { SourceError } from "../../source.ts";
import { toError } from "../../../../to-error.ts";
import {
  collationsQuery,
  missingFunction,
  quoteName,
  refuseDamage,
  sample,
  tablesQuery,
  textOf,
  textsOf,
  tellUnchecked,
  type Unchecked,
} from "../check-queries.ts";
import { ask, refuseFailure, stepError, type Step, type Target } from "./shell.ts";

/** Names of tables are hex, so that the output can be parsed unambiguously. */
const hexOf = (name: string): string => `${sample} || '.' || hex(${name})`;
const namesQuery = `select ${hexOf("name")} from (${tablesQuery})`;
/** A query that returns statements to count the rows of each table. */
export const countsQuery = `select 'select ''' || ${hexOf("name")} || ''', (select count(*) from "' || replace(name, '"', '""') || '");' from (${tablesQuery})`;

/** Arguments of `check`. */
export const checkArguments = [namesQuery, countsQuery] as const;

/** Name of a copy in its folder. */
export const copyName = "database";

/** Shell function: in the folder of a copy, `check NAMES COUNTS` reports three steps. */
export const check = `counts() { q -readonly ${copyName} "$1" >statements && q -readonly ${copyName} <statements; }
check() {
  step q -readonly ${copyName} 'pragma integrity_check'
  step q -readonly ${copyName} "$1"
  step counts "$2"
}
`;

type CheckedFile = {
  /** Our folder, which contains the copy. */
  folder: string;
  /** Its name for people. */
  shown: string;
  signal: AbortSignal;
};

type Checked = { tables: Record<string, number>; notes: Unchecked[] };

/**
 * @param steps the three steps that `check` reported
 * @throws SourceError where the integrity check found damage
 */
export async function readCheck(
  target: Target,
  [soundness, names, counts]: readonly [Step, Step, Step],
  checked: CheckedFile,
): Promise<Checked> {
  const { shown } = checked;
  const isLacking = lacksSomething(soundness);
  if (!isLacking) {
    refuseFailure(shown, soundness);
    refuseUnsound(shown, ...linesOf(soundness));
  }
  refuseFailure(shown, names);
  const all = linesOf(names).map(fromHex);
  const tables = countsIn(counts);
  const isWhole = all.every((name) => tables[name] !== undefined);
  if (!isWhole && !lacksSomething(counts)) throw stepError(shown, counts);
  if (isWhole && !isLacking) return { tables, notes: [] };
  return checkByTable(target, all, checked);
}

/** Errors go to a file: in one stream, they would split lines of other statements. */
const byTable = `tables() { q -readonly "$1" 2>errors; }
step tables "$1"
step cat errors
step q -readonly "$1" "$2"`;

/** Checks table by table, and leaves out those that need a collation or function of an application. */
async function checkByTable(
  target: Target,
  names: readonly string[],
  { folder, shown, signal }: CheckedFile,
): Promise<Checked> {
  const statements = names.map((name) => {
    const quoted = quoteName(name);
    return `select '${toHex(name)}:'; pragma integrity_check(${quoted});
select '${toHex(name)}', (select count(*) from ${quoted} not indexed);\n`;
  });
  const told = await ask(
    target,
    `cd -- "$3" && echo $$ >keeper || exit 1\n${byTable}`,
    [copyName, collations, folder],
    {
      input: Readable.from(statements, { objectMode: false }),
      signal,
    },
  );
  const [found, errors, used] = [told.step(), told.step(), told.step()];
  // sqlite3 marks the position of an error in the lines below it.
  const failures = linesOf(errors).filter(
    (line) => /error/i.test(line) && !/^ .*(?:\^--- error here|error here ---\^)$/.test(line),
  );
  const strange = failures.find(
    (line) => !/collation/i.test(line) && missingFunction(line) === null,
  );
  if (strange !== undefined) throw stepError(shown, { exitCode: 1, text: strange });
  refuseFailure(shown, used);
  const functions = new Set(failures.flatMap((line) => missingFunction(line) ?? []));
  const lines = linesOf(found);
  const unchecked = names.filter((name) => {
    const next = lines[lines.indexOf(`${toHex(name)}:`) + 1] ?? "";
    // The check itself reported nothing where this is already the next output.
    if (next.startsWith(`${toHex(name)}|`) || next.endsWith(":")) return true;
    refuseUnsound(shown, next);
    return false;
  });
  return {
    tables: countsIn(found),
    notes: tellUnchecked(unchecked, collationsIn(used), functions),
  };
}

/** A query for the collations of an application, by table. */
export const collations = `select ${hexOf("name")}, ${hexOf("collation")} from (${collationsQuery})`;

/** @returns a sentence where tables use collations that an application defines */
export function readCollations(shown: string, step: Step): string[] {
  refuseFailure(shown, step);
  const known = collationsIn(step);
  return textsOf(tellUnchecked([...known.keys()], known));
}

const collationsIn = (step: Step): Map<string, string> =>
  new Map(
    linesOf(step).map((line) => {
      const [name = "", collation = ""] = line.split("|").map(fromHex);
      return [name, collation];
    }),
  );

/** Whether a statement failed for a collation or a function that an application defines. */
export const lacksSomething = ({ exitCode, text }: Step): boolean =>
  exitCode !== 0 && (/no such collation sequence/i.test(text) || missingFunction(text) !== null);

function refuseUnsound(shown: string, ...lines: readonly string[]): void {
  try {
    refuseDamage(lines);
  } catch (error) {
    throw new SourceError(`${shown}: ${toError(error).message}.`);
  }
}

/** Parses rows by table from the output of the statements of `countsQuery`. */
export const countsIn = (step: Step): Record<string, number> =>
  Object.fromEntries(
    linesOf(step).flatMap((line) => {
      const [, name, count] = /^([0-9A-F.]*)\|(\d+)$/.exec(line) ?? [];
      return name === undefined ? [] : [[fromHex(name), Number(count)]];
    }),
  );

const linesOf = ({ text }: Step): string[] => text.split("\n").filter((line) => line !== "");
const toHex = (text: string): string => `61.${Buffer.from(text).toString("hex").toUpperCase()}`;
function fromHex(text: string): string {
  const [sampled = "", hex = ""] = text.split(".");
  return textOf(sampled, hex);
}
