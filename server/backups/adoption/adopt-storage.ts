// Adopts a storage of an earlier installation: lists the backups that its manifests describe, below configurations without a
// schedule, so that they can be restored here.
import {
  type AdoptableSource,
  type Adoption,
  neverFrequency,
} from "../../../contract/backups/adoption.ts";
import { countOf } from "../../../contract/count-text.ts";
import { maxHold } from "../../../contract/backups/backup.ts";
import { slugOf } from "../../../contract/backups/slug.ts";
import { recordActivity } from "../../activity/store.ts";
import type { Clock } from "../../clock.ts";
import { conflict } from "../../http/service-error.ts";
import type { InventoryStore, StorageProviderEntry } from "../../inventory/store.ts";
import { StorageError } from "../../storage/storage.ts";
import type { Connection } from "../../store/database.ts";
import { readAdoptable } from "./adoptable-files.ts";
import type { AdoptableFile, AdoptableFiles } from "./adoptable-manifest.ts";
import {
  type AdoptionTarget,
  keyOfSource,
  matchSources,
  type OldSource,
} from "./adoption-targets.ts";
import { baseKeyOf, leaveOut, withoutFull } from "./adoptable-chains.ts";
import { type Group, toAdoption, toSource } from "./adoption-response.ts";
import type { AdoptionStore, Sharing } from "./adoption-store.ts";
import type { ConfigurationRow, ConfigurationStore } from "../configuration-store.ts";
import type { ConfigurationTransitions } from "../configuration-transitions.ts";
import { configurationEntry } from "../event-data.ts";
import type { RecoveryWriter } from "../recovery/recovery-writer.ts";
import type { Resolver } from "../resolver.ts";
import { placeOf } from "../../inventory/storage-place.ts";
import { engineOfEntry } from "../subject.ts";

type AdoptStorageOptions = {
  store: AdoptionStore;
  configurations: ConfigurationStore;
  transitions: Pick<ConfigurationTransitions, "sendJobs">;
  inventory: InventoryStore;
  resolver: Pick<Resolver, "storage">;
  recovery: Pick<RecoveryWriter, "request">;
  clock: Clock;
};

/** Rows per transaction, because a trigger evaluates the configuration at each commit, once for each added row. */
const rowsAtOnce = 200;

export function createAdoptStorage(options: AdoptStorageOptions) {
  const { store, configurations, transitions, inventory, resolver, recovery, clock } = options;

  /** Returns the providers that share files with this one: one place may have several names, or be inside of another. */
  async function sharingWith(provider: StorageProviderEntry): Promise<Sharing[]> {
    const [{ storage_providers: providers }, servers] = await Promise.all([
      inventory.entries(),
      inventory.allServers(),
    ]);
    const here = new Set(servers.flatMap((one) => (one.connection === "local" ? one.id : [])));
    const place = placeOf(provider, here);
    return providers.flatMap((one) => {
      const its = placeOf(one, here);
      if (!its.startsWith(place) && !place.startsWith(its)) return [];
      return [
        { providerId: one.id, here: its.slice(place.length), there: place.slice(its.length) },
      ];
    });
  }

  async function look(provider: StorageProviderEntry, signal: AbortSignal) {
    const sharing = await sharingWith(provider);
    // Read before the storage is listed, so that files that are deleted meanwhile still count as known.
    const known = await store.pathsIn(sharing);
    const now = new Date(clock.now());
    try {
      const storage = await resolver.storage(provider.id);
      const isKnown = (key: string) => known.has(key);
      const found = await readAdoptable(storage, { isKnown, now, signal });
      return { sharing, place: storage.place, found, groups: await groupsOf(found) };
    } catch (error) {
      if (signal.aborted) throw conflict("Canceled. Nothing was added.");
      throw error instanceof StorageError ? conflict(error.message) : error;
    }
  }

  async function groupsOf({ files }: AdoptableFiles): Promise<Group[]> {
    const bySource = Map.groupBy(files, (file) => keyOfSource(sourceOf(file)));
    const sources = [...bySource.values()].flatMap(([first]) =>
      first === undefined ? [] : [sourceOf(first)],
    );
    const entries = await inventory.entries();
    const names = new Map(entries.servers.map(({ id, name }) => [id, name]));
    const targets: AdoptionTarget[] = [
      ...entries.databases.map((one) => ({
        ...one,
        type: "database" as const,
        engine: engineOfEntry(one),
      })),
      ...entries.sites.map((one) => ({ ...one, type: "site" as const, engine: "folder" as const })),
    ].map(({ type, engine, id, name, server }) => ({
      type,
      engine,
      id,
      name,
      serverId: server,
      server: names.get(server) ?? "",
    }));
    const matches = matchSources(sources, targets, new Set(names.values()));
    return sources.flatMap((source): Group[] => {
      const key = keyOfSource(source);
      const match = matches.get(key);
      return match === undefined ? [] : [{ source, match, files: bySource.get(key) ?? [] }];
    });
  }

  /**
   * Returns the configuration for adopted backups of a target. Creates a new one where the existing one has newer backups, because
   * backups are listed in the order of their ids.
   */
  async function configurationFor(
    tx: Connection,
    target: AdoptionTarget,
    providerId: number,
    from: Date,
  ): Promise<ConfigurationRow> {
    const there = await store.configurationsOf(tx, target);
    const fitting = there.find(
      ({ configuration, newestAt }) =>
        configuration.storage_provider_id === providerId &&
        configuration.status !== "removing" &&
        (newestAt === null || newestAt <= from),
    );
    if (fitting !== undefined) return fitting.configuration;
    const suffix = there.length === 0 ? " (adopted)" : ` (adopted ${there.length + 1})`;
    const row = await configurations.insert(tx, {
      server_id: target.serverId,
      name: target.name.slice(0, 255 - suffix.length) + suffix,
      frequency: neverFrequency,
      hold: maxHold,
      directory: slugOf(target.name),
      storage_provider_id: providerId,
      type: target.type,
      database_id: target.type === "database" ? target.id : null,
      site_id: target.type === "site" ? target.id : null,
      drill: null,
      adopted_at: new Date(clock.now()),
      created_at: new Date(clock.now()),
    });
    await transitions.sendJobs(tx, row);
    return row;
  }

  /** @param files oldest first @returns the added files and their configuration; null = none was added */
  const add = (
    provider: StorageProviderEntry,
    { place, sharing }: { place: string; sharing: readonly Sharing[] },
    target: AdoptionTarget,
    files: readonly AdoptableFile[],
  ) =>
    store.alone(async (tx) => {
      const paths = files.map(({ key }) => key);
      const known = await store.knownPaths(tx, sharing, paths);
      const wanted = files.filter(({ key }) => !known.has(key));
      const bases = wanted.flatMap((file) => baseKeyOf(file) ?? []);
      const fulls = await store.fullsIn(tx, provider.id, bases);
      const added = wanted.filter((file) => {
        const base = baseKeyOf(file);
        return base === null || fulls.has(base) || wanted.some(({ key }) => key === base);
      });
      const leftOut = wanted.filter((file) => !added.includes(file));
      const [first] = added;
      if (first === undefined) return { configurationId: null, added, leftOut };
      if (!(await store.holdTarget(tx, target)))
        throw conflict(`${target.name} was removed from the inventory. Adopt again.`);
      const configuration = await configurationFor(tx, target, provider.id, first.startedAt);
      await store.insert(
        tx,
        added.map((file) => toRow(file, configuration.id, provider.id, place)),
      );
      const links = added.flatMap((file) => {
        const base = baseKeyOf(file);
        return base === null ? [] : [{ path: file.key, base }];
      });
      const within = { configurationId: configuration.id, providerId: provider.id };
      if (!(await store.link(tx, within, links)))
        throw conflict(
          `A full backup that others in ${place} need was deleted meanwhile. Adopt again.`,
        );
      const detail = `${countOf(added.length, "backup")} from ${provider.name} (${place})`;
      await recordActivity(tx, configurationEntry(configuration, "adopted", { detail }));
      return { configurationId: configuration.id, added, leftOut };
    });

  return {
    /** Returns what an adoption would add. @throws a conflict where the storage cannot be read */
    async preview(provider: StorageProviderEntry, signal: AbortSignal): Promise<Adoption> {
      const { place, found, groups } = await look(provider, signal);
      return toAdoption(place, found, groups.map(toSource), 0);
    },

    /**
     * Adds the backups that are not listed yet. If it is interrupted, added backups stay, and another adoption continues.
     * @throws a conflict where the storage cannot be read
     */
    async adopt(provider: StorageProviderEntry, signal: AbortSignal): Promise<Adoption> {
      const { place, sharing, found, groups } = await look(provider, signal);
      const sources: AdoptableSource[] = [];
      let adopted = 0;
      let known = found.known;
      for (const group of groups) {
        if (!("target" in group.match)) {
          sources.push(toSource(group));
          continue;
        }
        const { target } = group.match;
        const files: AdoptableFile[] = [];
        let configurationId: number | null = null;
        for (let from = 0; from < group.files.length; from += rowsAtOnce) {
          const some = group.files.slice(from, from + rowsAtOnce);
          const result = await add(provider, { place, sharing }, target, some);
          configurationId = result.configurationId ?? configurationId;
          files.push(...result.added);
          for (const file of result.leftOut)
            leaveOut(found, file.key, withoutFull(baseKeyOf(file) ?? ""));
          known -= result.leftOut.length;
        }
        adopted += files.length;
        known += group.files.length - files.length;
        if (configurationId !== null)
          sources.push({
            ...toSource({ ...group, files }),
            configuration_id: configurationId,
          });
      }
      if (adopted > 0) recovery.request(provider.id);
      return toAdoption(place, { ...found, known }, sources, adopted);
    },
  };
}

export type AdoptStorage = ReturnType<typeof createAdoptStorage>;

const sourceOf = ({ manifest: { source } }: AdoptableFile): OldSource => ({
  type: source.type,
  engine: source.engine,
  name: source.name,
  server: source.server.name,
});

/** Parses counts, which were validated before they were serialized. */
const countsOf = ({ counts }: AdoptableFile): object => JSON.parse(counts);

function toRow(file: AdoptableFile, configurationId: number, providerId: number, place: string) {
  const { key, manifest, startedAt, storedAt } = file;
  const { source, tools } = manifest;
  const origin = {
    tools,
    ...(source.database !== undefined && { database: source.database }),
    ...(source.path !== undefined && { path: source.path }),
  };
  return {
    configuration_id: configurationId,
    storage_provider_id: providerId,
    path: key,
    size: manifest.size,
    plain_size: manifest.uncompressed_size,
    checksum: manifest.sha256,
    manifest: { ...countsOf(file), origin },
    output: [
      `Adopted from ${place}, as the manifest beside the file describes it.`,
      `Made by Quarterdeck ${manifest.quarterdeck} as backup ${manifest.backup.id} of “${manifest.configuration.name}” (trigger: ${manifest.backup.trigger}).`,
      `Source: ${source.name} on ${source.server.name}.`,
      "",
    ].join("\n"),
    started_at: startedAt,
    ended_at: storedAt,
    locked_until: file.lockedUntil,
  };
}
