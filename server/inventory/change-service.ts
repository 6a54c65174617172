// Changes the inventory file for HTTP requests. Mistakes are refused before anything is written; after writing, the change is in
// force, or the reason is reported.
import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import {
  fileEntries,
  type InventoryKind,
  inventoryKinds,
} from "../../contract/inventory/entries.ts";
import type { InventoryFile } from "../../contract/inventory/inventory.ts";
import { keysOf } from "../../contract/keys-of.ts";
import { recordActivity } from "../activity/store.ts";
import { conflict, InvalidFields, notFound } from "../http/service-error.ts";
import type { Connection } from "../store/database.ts";
import { EditError, editText, linesOf, type Edit } from "./edit-text.ts";
import { type Change, type Entry, listOf, textOf, words } from "./entry.ts";
import { inspect, readText } from "./file.ts";
import type { HighestIds } from "./highest-ids.ts";
import type { LiveInventory } from "./inventory.ts";
import { codeOf, replaceFile } from "./replace-file.ts";
import { changedMeanwhile, readOnly, refuseComplaints } from "./refusals.ts";
import {
  createSecretFiles,
  nameSecret,
  referenceTo,
  SecretFolderError,
  secretsIn,
  withoutSecrets,
} from "./secret-files.ts";
import type { InventoryStore } from "./store.ts";
import { createTextHistory, diffText, mask } from "./text-diff.ts";

type ChangeServiceOptions = {
  live: LiveInventory;
  store: InventoryStore;
  ids: HighestIds;
  /** Returns why the file is read-only; null = it is writable. */
  whyReadOnly(): Promise<string | null>;
};

const done = { add: "added", replace: "changed", remove: "removed" } as const;

const versionOf = (text: string): string => createHash("sha256").update(text).digest("hex");

export function createChangeService(options: ChangeServiceOptions) {
  const { live, store, ids, whyReadOnly } = options;
  const history = createTextHistory();

  function facts(text: string) {
    const version = versionOf(text);
    history.keep(version, text);
    return version;
  }

  async function show(): Promise<InventoryFile> {
    const read_only_reason = await whyReadOnly();
    if (live.file === null)
      return {
        version: null,
        file: null,
        read_only_reason,
        problem: null,
        ...(await store.entries()),
      };
    const { file } = live;
    // A file that cannot be read has no entries to change; `problem` has the reason.
    const text = await readText(file).catch(() => "");
    return {
      version: facts(text),
      file,
      read_only_reason,
      problem: live.problem(),
      ...entriesOf(inspect(text).content),
    };
  }

  /** @throws ServiceError where nothing was changed */
  async function change(wanted: Change, version: string | undefined): Promise<number> {
    const reason = await whyReadOnly();
    if (live.file === null) return refuseWithout(wanted, reason ?? "This instance reads no file.");
    const { file } = live;
    const text = await readText(file).catch((error: Error) => {
      throw conflict(error.message);
    });
    if (reason === null) checkVersion(text, version, file);
    const { content } = inspect(text);
    const before = entryIn(content, wanted);
    const secrets = new Map<string, string>();
    const id = wanted.action === "add" ? await nextId(wanted, content) : wanted.id;
    const entry =
      wanted.action === "remove" ? null : toFileEntry(wanted.kind, id, wanted.entry, secrets);
    const edit = toEdit(wanted, entry, before.index);
    const changed = edited(text, edit);
    if (changed === text) return id;
    const checked = await live.check(changed);
    if (checked.inventory === null) refuseComplaints(checked, wanted, before, text);
    // The entry to be removed may contain a literal secret.
    const lines =
      entry === null ? mask(linesOf(wanted.kind, before.entry ?? {})) : linesOf(wanted.kind, entry);
    if (reason !== null)
      throw readOnly(reason, wanted, lines, secrets, diffText(text, changed, file));
    await write(file, text, changed, secrets, { wanted, lines });
    const after: Entry = entry ?? { id, name: "", ...before.entry };
    const problem = await live.take(async (tx) => {
      await ids.note(tx, wanted.kind, id);
      await record(tx, wanted, after, before.entry);
    });
    facts(changed);
    // If the new text is not in force, the old entries still need their secrets; the next start removes them.
    if (problem === null)
      await createSecretFiles(file).remove(
        secretsIn(before.entry).filter((name) => !changed.includes(name)),
      );
    return id;
  }

  async function write(
    file: string,
    text: string,
    changed: string,
    secrets: ReadonlyMap<string, string>,
    { wanted, lines }: { wanted: Change; lines: string },
  ): Promise<void> {
    const files = createSecretFiles(file);
    const isStill = async () => (await readText(file)) === text;
    try {
      await files.store(secrets);
      if (await replaceFile(file, changed, isStill)) return;
    } catch (error) {
      await files.remove([...secrets.keys()]);
      const reason =
        error instanceof SecretFolderError
          ? error.message
          : `${file} could not be written (${codeOf(error)}).`;
      throw readOnly(reason, wanted, lines, secrets, diffText(text, changed, file));
    }
    await files.remove([...secrets.keys()]);
    throw changedMeanwhile(diffText(text, await readText(file), file), file);
  }

  function checkVersion(text: string, version: string | undefined, file: string): void {
    if (version === undefined)
      throw new InvalidFields({ version: ["The version field is required."] });
    if (version === facts(text)) return;
    const seen = history.find(version);
    throw changedMeanwhile(seen === null ? null : diffText(seen, text, file), file);
  }

  async function nextId(wanted: Change, content: unknown): Promise<number> {
    const { entry } = wanted.action === "add" ? wanted : { entry: {} };
    if ("id" in entry && typeof entry.id === "number") return entry.id;
    const used = listOf(content, wanted.kind).map(({ id }) => Number(id) || 0);
    return Math.max(0, ...used, await ids.of(wanted.kind)) + 1;
  }

  /** Refuses a change on an instance without a file, so there is nothing to check it against. */
  async function refuseWithout(wanted: Change, reason: string): Promise<never> {
    const entries = (await store.entries())[wanted.kind];
    const secrets = new Map<string, string>();
    const highest = Math.max(0, await ids.of(wanted.kind), ...entries.map(({ id }) => id));
    const id = wanted.action === "add" ? highest + 1 : wanted.id;
    const found = entries.find((entry) => entry.id === id);
    if (wanted.action !== "add" && found === undefined) throw notFound();
    const entry =
      wanted.action === "remove"
        ? (found ?? {})
        : toFileEntry(wanted.kind, id, wanted.entry, secrets);
    throw readOnly(reason, wanted, linesOf(wanted.kind, entry), secrets, null);
  }

  return {
    show,
    change: (wanted: Change, version: string | undefined): Promise<number> =>
      live.alone(() => change(wanted, version)),
    async has(kind: InventoryKind, id: number): Promise<boolean> {
      const content =
        live.file === null
          ? await store.entries()
          : inspect(await readText(live.file).catch(() => "")).content;
      return listOf(content, kind).some((entry) => entry.id === id);
    },
  };
}

export type ChangeService = ReturnType<typeof createChangeService>;

/** Returns the valid entries, as they are in the file. */
function entriesOf(content: unknown) {
  const of = <Kind extends InventoryKind>(kind: Kind) =>
    listOf(content, kind).filter((entry) => fileEntries[kind].safeParse(entry).success);
  // What passes the schema of a kind is an entry of that kind.
  return Object.fromEntries(inventoryKinds.map((kind) => [kind, of(kind)])) as Pick<
    InventoryFile,
    InventoryKind
  >;
}

function entryIn(content: unknown, wanted: Change): { index: number; entry: Entry | null } {
  if (wanted.action === "add") return { index: -1, entry: null };
  const list = listOf(content, wanted.kind);
  const index = list.findIndex(({ id }) => id === wanted.id);
  const found = list[index];
  if (found === undefined) throw notFound();
  return { index, entry: { ...found, id: wanted.id, name: textOf(found["name"]) } };
}

/** @param secrets receives the entered secrets, by names of their files */
function toFileEntry(
  kind: InventoryKind,
  id: number,
  given: object,
  secrets: Map<string, string>,
): Entry {
  if ("id" in given && given.id !== undefined && given.id !== id)
    throw new InvalidFields({ id: ["The id of an entry cannot be changed."] });
  const entry = withoutSecrets(Object.assign({ id }, given, { id }), ({ path, secret }) => {
    const name = nameSecret(kind, id, path);
    secrets.set(name, secret);
    return referenceTo(name);
  });
  return { ...entry, id, name: textOf(entry["name"]) };
}

/** Returns every key that an entry of the kind may have. */
function keysOfKind(kind: InventoryKind): ReadonlySet<string> {
  const schema = fileEntries[kind];
  const shapes = "shape" in schema ? [schema.shape] : schema.def.options.map(({ shape }) => shape);
  return new Set(shapes.flatMap((shape) => Object.keys(shape)));
}

function toEdit(wanted: Change, entry: Entry | null, index: number): Edit {
  const { kind } = wanted;
  if (entry === null) return { kind, action: "remove", index };
  return wanted.action === "add"
    ? { kind, action: "add", entry }
    : { kind, action: "replace", index, entry, keys: keysOfKind(kind) };
}

function edited(text: string, edit: Edit): string {
  try {
    return editText(text, edit);
  } catch (error) {
    if (error instanceof EditError)
      throw conflict(`Couldn't change the inventory: ${error.message}`);
    throw error;
  }
}

const serverOf = (kind: InventoryKind, id: number, entry: Record<string, unknown>) =>
  kind === "servers" ? id : typeof entry["server"] === "number" ? entry["server"] : null;

function record(tx: Connection, { kind, action }: Change, entry: Entry, before: Entry | null) {
  const { id, name } = entry;
  const fields = keysOf({ ...before, ...entry }).filter(
    (field) => !isDeepStrictEqual(before?.[field], entry[field]),
  );
  return recordActivity(tx, {
    kind: "inventory",
    action: done[action],
    object: { type: words[kind].type, id, name },
    server_id: serverOf(kind, id, entry),
    site_id: kind === "sites" ? id : null,
    // Only names of fields, because a value may be an address that not everyone should see.
    detail: action === "replace" ? `Fields: ${fields.join(", ")}` : null,
  });
}
