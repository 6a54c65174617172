// Builds the errors for refused changes of the inventory, and their details.
import type { FieldErrors } from "../../contract/errors.ts";
import { inventoryKinds } from "../../contract/inventory/entries.ts";
import { DetailedConflict, InvalidFields } from "../http/service-error.ts";
import { type Change, type Entry, listOf, textOf, words } from "./entry.ts";
import { inspect, type Inspected } from "./file.ts";
import type { Complaint } from "./schema.ts";

/** @throws ServiceError with all mistakes; those of the entry are at its fields */
export function refuseComplaints(
  { complaints, content, tell }: Inspected,
  wanted: Change,
  before: { index: number; entry: Entry | null },
  text: string,
): never {
  const { kind } = wanted;
  if (wanted.action === "remove") {
    const known = new Set(inspect(text).complaints.map(({ message }) => message));
    const reason = complaints.find(({ message }) => !known.has(message));
    const users = complaints.flatMap((complaint) => userOf(complaint, content) ?? []);
    const name = `${words[kind].word} ${wanted.id} (${before.entry?.name ?? ""})`;
    const isReferred = reason?.message.startsWith("There is no ") === true && users.length > 0;
    throw new DetailedConflict(
      isReferred
        ? `Couldn't remove ${name}: ${[...new Set(users)].join(", ")} ${users.length === 1 ? "uses" : "use"} it. Change or remove ${users.length === 1 ? "that entry" : "those entries"} first.`
        : `Couldn't remove ${name}. ${reason?.message ?? complaints.map(tell).join(" ")}`,
      { code: "inventory_in_use" },
    );
  }
  const index = wanted.action === "add" ? listOf(content, kind).length - 1 : before.index;
  const errors: FieldErrors = {};
  for (const complaint of complaints) {
    const [at, place, ...field] = complaint.path;
    const isOwn = at === kind && place === index && field.length > 0;
    const user = isOwn ? null : userOf(complaint, content);
    (errors[isOwn ? field.join(".") : "inventory"] ??= []).push(
      isOwn
        ? complaint.message
        : `${user === null ? "" : `${user}, `}${tell(complaint)}`.replace(/^./, (one) =>
            one.toUpperCase(),
          ),
    );
  }
  throw new InvalidFields(errors);
}

/** Returns the entry that a complaint is about, such as `site 3 (shop)`. */
function userOf({ path: [kind, index] }: Complaint, content: unknown): string | null {
  const known = inventoryKinds.find((one) => one === kind);
  if (known === undefined || typeof index !== "number") return null;
  const { id, name } = listOf(content, known)[index] ?? {};
  return `${words[known].word} ${String(id)} (${textOf(name)})`;
}

/** @param diff changes of the file; null = unknown */
export const changedMeanwhile = (diff: string | null, file: string) =>
  new DetailedConflict(
    `Somebody changed ${file} since you opened it. Nothing was saved. Reload it and make your change again.`,
    { code: "inventory_changed", diff },
  );

/**
 * @param yaml the entry as it would be in the file
 * @param secrets entered secrets, by names of files that were not written
 * @param diff the change; null = unknown
 */
export function readOnly(
  reason: string,
  wanted: Change,
  yaml: string,
  secrets: ReadonlyMap<string, string>,
  diff: string | null,
) {
  const what = {
    add: "Add these lines to it by hand.",
    replace: "Change the entry by hand.",
    remove: "Remove the entry by hand.",
  }[wanted.action];
  const files = [...secrets.keys()].map((name) => `secrets/${name}`);
  const stored =
    files.length === 0
      ? ""
      : ` Put the secret into ${files.join(" and ")} beside the inventory, readable by Quarterdeck's account only.`;
  return new DetailedConflict(`${reason} ${what}${stored}`, {
    code: "inventory_read_only",
    yaml,
    diff,
  });
}
