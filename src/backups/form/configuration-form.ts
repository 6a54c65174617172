// The values of the configuration form: initial values, and conversion to the request.
import type * as z from "zod/mini";
import {
  backupableTypes,
  defaultHold,
  type BackupConfiguration,
} from "../../../contract/backups/backup.ts";
import type { createBackupConfigurationBody } from "../../../contract/backups/bodies.ts";
import { keepInWords, keepRules } from "../../../contract/backups/keep-rules.ts";
import { slugOf } from "../../../contract/backups/slug.ts";
import type { Choice, Choices } from "./choices.ts";
import { isHold } from "../hold-text.ts";

export type ConfigurationFormValues = z.input<typeof createBackupConfigurationBody>;

export const presets = [
  { frequency: "0 * * * *", label: "Every hour" },
  { frequency: "30 2 * * *", label: "Every night at 02:30" },
  { frequency: "30 2 * * 0", label: "Every week, on Sunday at 02:30" },
  { frequency: "30 2 1 * *", label: "Every month, on the 1st at 02:30" },
] as const;

/** Returns the item of a list with exactly one. */
const onlyOf = <Item>(items: readonly Item[] | null): Item | undefined =>
  items?.length === 1 ? items[0] : undefined;

/** Returns the preselected source of a new configuration: from the URL, or the only one. */
function firstSource(search: URLSearchParams, { databases, sites }: Choices) {
  const listed = [
    ...(databases ?? []).map((choice) => ({ type: "database" as const, ...choice })),
    ...(sites ?? []).map((choice) => ({ type: "site" as const, ...choice })),
  ];
  const asked = backupableTypes.find((type) => type === search.get("type"));
  const id = Number(search.get("id") ?? "");
  if (asked === undefined) return onlyOf(listed) ?? { type: "database" as const };
  const found = listed.find((one) => one.type === asked && one.id === id);
  return found ?? { type: asked, ...(Number.isInteger(id) && id > 0 && { id }) };
}

/** Returns initial values, complete where each list has one item. The URL may preselect a source: `?type=site&id=4`. */
export function newValues(
  search: URLSearchParams,
  choices: Choices,
): Partial<ConfigurationFormValues> {
  const source = firstSource(search, choices);
  const provider = onlyOf(choices.providers);
  return {
    name: "name" in source ? source.name : "",
    frequency: presets[1].frequency,
    hold: defaultHold,
    backupable_type: source.type,
    ...("id" in source && { backupable_id: source.id }),
    ...(provider !== undefined && { storage_provider_id: provider.id }),
  };
}

/** Returns the name after a change of the source: that of the source, unless the user has typed one. */
export function nameAfter(name: string, chosen: Choice | undefined, { databases, sites }: Choices) {
  const given = [...(databases ?? []), ...(sites ?? [])].map((one) => one.name);
  return chosen !== undefined && (name.trim() === "" || given.includes(name)) ? chosen.name : name;
}

const days = (count: number) => (count === 1 ? "every day" : `every ${count} days`);

function excludeSummary({
  exclude,
  exclude_caches: caches,
}: Partial<ConfigurationFormValues>): string[] {
  const count = (exclude ?? []).filter((line) => !/^\s*(?:#.*)?$/.test(line)).length;
  const parts = [
    ...(count === 0
      ? []
      : [count === 1 ? "what 1 pattern matches" : `what ${count} patterns match`]),
    ...(caches === true ? ["caches"] : []),
  ];
  return parts.length === 0 ? [] : [`Excludes ${parts.join(" and ")}.`];
}

/** Summarizes the advanced fields, e.g. "Keeps the last 7 backups in shop-nightly. No restore drills." */
export function advancedSummary(
  values: Partial<ConfigurationFormValues>,
  { keptHold, keptDirectory, isOurs }: { keptHold: number; keptDirectory: string; isOurs: boolean },
): string {
  const { name, hold, keep, directory, drill, backupable_type: type } = values;
  const isCopied = values.copy_storage_provider_id != null;
  const kept = hold ?? keptHold;
  const count = kept === 1 ? "backup" : `${kept} backups`;
  const also = isOurs ? keepInWords(keepRules.safeParse(keep).data) : null;
  const place = directory || keptDirectory || (isOurs && name?.trim() ? slugOf(name) : "");
  return [
    // An invalid number has its error at its field.
    ...(isHold(kept)
      ? [
          `Keeps the last ${count}${also === null ? "" : ` and ${also}`}${place === "" ? "" : ` in ${place}`}.`,
        ]
      : []),
    ...(isOurs && isCopied ? ["Copies each run to a second storage."] : []),
    ...(isOurs && type === "site" ? excludeSummary(values) : []),
    ...(isOurs ? [drill ? `Restore drill ${days(drill)}.` : "No restore drills."] : []),
  ].join(" ");
}

export const toValues = (configuration: BackupConfiguration): ConfigurationFormValues => ({
  name: configuration.name,
  // For adopted backups, the stored frequency never comes.
  frequency: configuration.adopted_at ? presets[1].frequency : configuration.frequency,
  ...(configuration.hold !== null && { hold: configuration.hold }),
  directory: configuration.directory,
  storage_provider_id: configuration.storage_provider_id,
  // It cannot be changed, but is included so that one schema validates both forms.
  backupable_type: configuration.type,
  backupable_id: configuration.backupable.id,
  // A service without drills and keep rules must not be sent any.
  ...(configuration.drill !== undefined && { drill: configuration.drill }),
  ...(configuration.copy_storage_provider_id !== undefined && {
    copy_storage_provider_id: configuration.copy_storage_provider_id,
  }),
  ...(configuration.keep !== undefined && { keep: configuration.keep }),
  ...(configuration.compression_level !== undefined && {
    compression_level: configuration.compression_level,
  }),
  ...(configuration.bytes_per_second !== undefined && {
    bytes_per_second: configuration.bytes_per_second,
  }),
  ...(configuration.incremental !== undefined && { incremental: configuration.incremental }),
  ...(configuration.type === "site" && {
    ...(configuration.exclude !== undefined && { exclude: configuration.exclude }),
    ...(configuration.exclude_caches !== undefined && {
      exclude_caches: configuration.exclude_caches,
    }),
  }),
});
