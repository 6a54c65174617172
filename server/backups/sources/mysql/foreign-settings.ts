// Refuses settings of a foreign dump that change where string literals end, because a statement could hide in such a literal.
import type { Statement } from "../../foreign/sql-statement.ts";
import { SourceError } from "../source.ts";

type Setting = Pick<Statement, "head" | "line" | "modes">;

/** Longest setting that is inspected completely. */
const longSetting = 3000;

const otherwiseQuoted =
  /\b(?:NO_BACKSLASH_ESCAPES|ANSI_QUOTES|ANSI|DB2|MAXDB|MSSQL|ORACLE|POSTGRESQL)\b/i;
/** A SQL mode as dump tools set it: a literal, or the previous one. */
const plainMode =
  /^ ?(?:''|DEFAULT|@OLD_SQL_MODE|@SAVED_SQL_MODE|@@(?:SESSION\. ?)?SQL_MODE)(?: ?,|$)/i;

/** Character sets in which a backslash may be the second byte of a character. */
const withBackslashes = /^(?:BIG5|CP932|GB18030|GBK|SJIS)$/i;
const names = /\b(?:NAMES|CHARACTER SET|CHARSET)\b/gi;
const named = /^ ?(''|[a-z]\w*)(?: COLLATE ?\w+)?(?: ?,|$)/i;
/** Variables that dump tools restore the setting from, and the setting itself. */
const variables = /(OLD_CHARACTER_SET_CLIENT|SAVED_CS_CLIENT|CHARACTER_SET_CLIENT)`? ?:?=/gi;
const current = "@@(?:SESSION\\. ?)?CHARACTER_SET_CLIENT";
const kept = new RegExp(`^ ?${current}(?: ?,|$)`, "i");
const set = new RegExp(
  `^ ?(?:${current}|@OLD_CHARACTER_SET_CLIENT|@SAVED_CS_CLIENT|([a-z]\\w*))(?: ?,|$)`,
  "i",
);

const refuse = (line: number, what: string) =>
  new SourceError(
    `Line ${line} sets the ${what} otherwise than dumps do, so where texts end can't be told. Nothing was imported.`,
  );

function refuseMode({ head, line, modes }: Setting): void {
  if (!/SQL_MODE\b/i.test(head)) return;
  const mode = otherwiseQuoted.exec(modes)?.[0];
  if (mode !== undefined)
    throw new SourceError(
      `Line ${line} sets the SQL mode ${mode.toUpperCase()}, in which texts end otherwise than an import reads them. Make the trigger, routine or event that has it without it, and dump again, or restore the dump by hand.`,
    );
  const isPlain =
    !modes.includes("\\") &&
    [...head.matchAll(/SQL_MODE`? ?:?=/gi)].every(({ index, 0: text }) =>
      plainMode.test(head.slice(index + text.length)),
    );
  if (!isPlain) throw refuse(line, "SQL mode");
}

/** @returns the character sets that a statement sets; null for one that cannot be determined */
function characterSets({ head, modes }: Setting): (string | null)[] {
  const byName = [...head.matchAll(names)].map(({ index, 0: text }) => {
    const found = named.exec(head.slice(index + text.length))?.[1] ?? null;
    return found === "''" ? (/^ *([a-z]\w*) *$/i.exec(modes)?.[1] ?? null) : found;
  });
  const byVariable = [...head.matchAll(variables)].map(({ index, 0: text, 1: variable = "" }) => {
    const value = head.slice(index + text.length);
    const isSetting = /^CHARACTER/i.test(variable);
    const found = (isSetting ? set : kept).exec(value);
    return found === null ? null : (found[1] ?? "");
  });
  return [...byName, ...byVariable];
}

function refuseCharacterSet(setting: Setting): string[] {
  const sets = characterSets(setting);
  const found = sets.find((one) => one !== null && withBackslashes.test(one));
  if (typeof found === "string")
    throw new SourceError(
      `Line ${setting.line} sets the character set ${found.toUpperCase()}, in which texts end otherwise than an import reads them. Dump again with --default-character-set=utf8mb4. Where a trigger, routine or event has it, make that anew without it first, or restore the dump by hand.`,
    );
  if (sets.includes(null)) throw refuse(setting.line, "character set");
  return sets.map((one) => one ?? "");
}

/** @returns the character sets that a statement sets; an empty string for the previous one. @throws SourceError */
export function refuseSettings(setting: Setting): string[] {
  const { head, line, modes } = setting;
  if (!/^SET\b/i.test(head)) return [];
  refuseMode(setting);
  const sets = refuseCharacterSet(setting);
  if (head.length > longSetting || modes.length > longSetting)
    throw refuse(line, "SQL mode or the character set");
  return sets;
}
