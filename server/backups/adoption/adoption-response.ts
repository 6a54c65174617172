// Serializes an adoption: what was found in the storage, by source.
import {
  type AdoptableSource,
  type Adoption,
  adoptionShown,
} from "../../../contract/backups/adoption.ts";
import { toTimestamp } from "../../../contract/values.ts";
import { toShownText } from "../../ssh/server-away.ts";
import type { AdoptableFile, AdoptableFiles } from "./adoptable-manifest.ts";
import type { Match, OldSource } from "./adoption-targets.ts";

/** The files of one source. */
export type Group = {
  source: OldSource;
  match: Match;
  /** Oldest first. */
  files: AdoptableFile[];
};

const maxProblemCharacters = 2000;

export function toSource({ source, match, files }: Group): AdoptableSource {
  const newest = files.slice(-adoptionShown.files).toReversed();
  const at = (file: AdoptableFile | undefined) => toTimestamp(file?.startedAt ?? new Date(0));
  const target = "target" in match ? match.target : null;
  return {
    type: source.type,
    engine: source.engine,
    // Sanitized, because names in a manifest are untrusted, unless they match an entry of the inventory.
    name: target?.name ?? toShownText(source.name),
    server: toShownText(source.server),
    target: target && {
      id: target.id,
      name: target.name,
      server_id: target.serverId,
      server: target.server,
    },
    problem: "problem" in match ? toShownText(match.problem, maxProblemCharacters) : null,
    configuration_id: null,
    backups: files.length,
    size: files.reduce((sum, { manifest }) => sum + manifest.size, 0),
    oldest_at: at(files[0]),
    newest_at: at(newest[0]),
    files: newest.map(({ key, manifest, startedAt }) => ({
      path: key,
      size: manifest.size,
      started_at: toTimestamp(startedAt),
    })),
  };
}

export function toAdoption(
  place: string,
  found: AdoptableFiles,
  sources: readonly AdoptableSource[],
  adopted: number,
): Adoption {
  const rank = ({ target }: AdoptableSource) => (target === null ? 0 : 1);
  const matched = sources.filter(({ target }) => target !== null);
  const inOrder = sources.toSorted(
    (a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name) || (a.server < b.server ? -1 : 1),
  );
  return {
    place,
    sources: inOrder.slice(0, adoptionShown.sources),
    sources_total: sources.length,
    adoptable: matched.reduce((sum, { backups }) => sum + backups, 0),
    adopted,
    known: found.known,
    self_backups: found.selfBackups,
    unread: found.unread,
    left_out: found.leftOut,
    left_out_total: found.leftOutTotal,
  };
}
