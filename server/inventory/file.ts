// Reads the inventory file and reports each mistake with its line.
import { readFile } from "node:fs/promises";
import { LineCounter, parseDocument, type Document, isNode } from "yaml";
import type * as z from "zod/mini";
import "../../contract/words.ts";
import { crossCheck, inventorySchema, type Complaint, type Inventory } from "./schema.ts";
import { toError } from "../to-error.ts";

/** The file cannot be used; the message names the file, and each mistake with its line. */
export class InventoryError extends Error {
  constructor(file: string, problems: readonly string[]) {
    super(`${file} cannot be used:\n${problems.map((problem) => `  ${problem}`).join("\n")}`);
    this.name = "InventoryError";
  }
}

/**
 * @param check finds what the machine has against it; each is reported with its line as well
 * @throws InventoryError
 */
export async function readInventory(
  file: string,
  check: (inventory: Inventory) => Promise<Complaint[]>,
): Promise<Inventory> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    throw new InventoryError(file, [toError(error).message]);
  }
  const { inventory, refuse } = parse(text, file);
  refuse(await check(inventory));
  return inventory;
}

/** @throws InventoryError */
export const parseInventory = (text: string, file: string): Inventory =>
  parse(text, file).inventory;

function parse(text: string, file: string) {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  if (document.errors.length > 0)
    throw new InventoryError(
      file,
      document.errors.map((error) => at(lines.linePos(error.pos[0]).line, error.message)),
    );
  const tell = ({ path, message }: Complaint) => at(lineOf(document, lines, path), message);

  // An empty file is an empty inventory, not a mistake.
  const parsed = inventorySchema.safeParse(document.toJS() ?? {});
  if (!parsed.success)
    throw new InventoryError(
      file,
      parsed.error.issues.flatMap(withinBranch).map((issue) => {
        // A YAML file has no symbols for keys.
        const path = issue.path as Complaint["path"];
        // What is unknown is reported where it stands, not where it is missing from.
        const unknown = issue.code === "unrecognized_keys" ? issue.keys.slice(0, 1) : [];
        return tell({ path: [...path, ...unknown], message: issue.message });
      }),
    );
  const refuse = (complaints: readonly Complaint[]) => {
    if (complaints.length > 0) throw new InventoryError(file, complaints.map(tell));
  };
  refuse(crossCheck(parsed.data));
  return { inventory: parsed.data, refuse };
}

type Issue = z.core.$ZodIssue;

/** Of a value that may be of several shapes, the mistakes inside the one that it nearly has. */
function withinBranch(issue: Issue): Issue[] {
  if (issue.code !== "invalid_union") return [issue];
  const branch = issue.errors.find((mistakes) =>
    mistakes.every(({ code, path }) => path.length > 0 || code === "unrecognized_keys"),
  );
  if (branch === undefined || branch.length === 0) return [issue];
  return branch.map((mistake) => ({ ...mistake, path: [...issue.path, ...mistake.path] }));
}

const at = (line: number, message: string) => `line ${line}: ${message}`;

/** The line of what a path names; what is missing is reported at the entry it is missing from. */
function lineOf(document: Document, lines: LineCounter, path: Complaint["path"]): number {
  for (let depth = path.length; depth >= 0; depth--) {
    const node = document.getIn(path.slice(0, depth), true);
    if (isNode(node) && node.range) return lines.linePos(node.range[0]).line;
  }
  return 1;
}
