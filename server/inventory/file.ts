// Reads the inventory file, and reports each mistake with its line.
import { readFile } from "node:fs/promises";
import { LineCounter, parseDocument, type Document, isNode } from "yaml";
import { withinBranch } from "../../contract/errors.ts";
import "../../contract/validation-messages.ts";
import { crossCheck, inventorySchema, type Complaint, type Inventory } from "./schema.ts";
import { toError } from "../to-error.ts";

/** The file cannot be used; the message names the file, and each mistake with its line. */
export class InventoryError extends Error {
  constructor(file: string, problems: readonly string[]) {
    super(`${file} cannot be used:\n${problems.map((problem) => `  ${problem}`).join("\n")}`);
    this.name = "InventoryError";
  }
}

const missing = "There is no such file. Put it back, or set QUARTERDECK_INVENTORY to where it is.";

/** @throws InventoryError */
export async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    const { code, message } = toError(error);
    throw new InventoryError(file, [code === "ENOENT" ? missing : message]);
  }
}

/** @throws InventoryError */
export function parseInventory(text: string, file: string): Inventory {
  const { inventory, complaints, tell } = inspect(text);
  if (inventory === null) throw new InventoryError(file, complaints.map(tell));
  return inventory;
}

export type Inspected = {
  /** Null where the text has mistakes. */
  inventory: Inventory | null;
  complaints: Complaint[];
  /** Content of the text, including mistakes; null where it is not YAML. */
  content: unknown;
  /** Returns a complaint with its line. */
  tell(complaint: Complaint): string;
};

/** Checks everything in a text that does not depend on the machine. */
export function inspect(text: string): Inspected {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  if (document.errors.length > 0)
    return {
      inventory: null,
      content: null,
      complaints: document.errors.map(({ message, pos }) => ({ path: [], message, at: pos[0] })),
      tell: ({ at: place = 0, message }) => at(lines.linePos(place).line, message),
    };
  const tell = ({ path, message }: Complaint) => at(lineOf(document, lines, path), message);
  // An empty file is an empty inventory, and a list without entries an empty list: neither is a mistake.
  const content = withoutEmptyLists(document.toJS() ?? {});
  const parsed = inventorySchema.safeParse(content);
  const complaints = parsed.success
    ? crossCheck(parsed.data)
    : parsed.error.issues.flatMap(withinBranch).map((issue) => {
        // Keys of a YAML file are never symbols.
        const path = issue.path as Complaint["path"];
        // An unknown key is reported at its own line, not at that of the object around it.
        const unknown = issue.code === "unrecognized_keys" ? issue.keys.slice(0, 1) : [];
        return { path: [...path, ...unknown], message: issue.message };
      });
  const inventory = parsed.success && complaints.length === 0 ? parsed.data : null;
  return { inventory, complaints, content, tell };
}

const withoutEmptyLists = (content: unknown): unknown =>
  isMap(content)
    ? Object.fromEntries(
        Object.entries(content).filter(
          ([kind, list]) => list !== null || !(kind in inventorySchema.shape),
        ),
      )
    : content;

const isMap = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const at = (line: number, message: string) => `line ${line}: ${message}`;

/** Returns the line of a path; a missing field is reported at its entry. */
function lineOf(document: Document, lines: LineCounter, path: Complaint["path"]): number {
  for (let depth = path.length; depth >= 0; depth--) {
    const node = document.getIn(path.slice(0, depth), true);
    if (isNode(node) && node.range) return lines.linePos(node.range[0]).line;
  }
  return 1;
}
