// The settings of a worker among the columns of its row, and what a change does to them.
import { createWorkerBody, type UpdateWorkerBody } from "../../contract/workers/worker.ts";
import type { VersionedSettings } from "../store/tables.ts";

type StoredSettings = VersionedSettings["settings"];

/** In the order of the interface; each is a column of the same name. */
const names = Object.keys(createWorkerBody.shape) as (keyof StoredSettings)[]; // of a shape these are its names

export const settingsOf = (row: StoredSettings): StoredSettings =>
  // Each of the names once, which is what makes it settings.
  Object.fromEntries(names.map((name) => [name, row[name]])) as StoredSettings;

/** The fields that a request really changes. */
export const changedNames = (row: StoredSettings, body: UpdateWorkerBody) =>
  names.filter((name) => body[name] !== undefined && body[name] !== row[name]);

export const withChanges = (before: StoredSettings, body: UpdateWorkerBody): StoredSettings => ({
  ...before,
  // A field that is absent from JSON is no property of the body, and none of them is null.
  ...(body as Partial<StoredSettings>),
});

const valueText = (value: StoredSettings[keyof StoredSettings]): string =>
  value === null ? "the site's folder" : String(value);

/** "queue default → high, max jobs 0 → 100" */
export const changeText = (before: StoredSettings, after: StoredSettings): string =>
  names
    .filter((name) => before[name] !== after[name])
    .map(
      (name) =>
        `${name.replaceAll("_", " ")} ${valueText(before[name])} → ${valueText(after[name])}`,
    )
    .join(", ");

/** Fields that say how many processes there are, and not what each of them runs. */
export const isScaling = (changed: readonly string[]): boolean =>
  changed.every((name) => name === "processes");
