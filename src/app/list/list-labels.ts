// The labels of a list's statuses and orders.
import { maxPerPage } from "../../../contract/paging.ts";
import type { ListView } from "../../api/list-query.ts";

/** States in transit. Separate tabs for them would appear and disappear. */
const moving: ReadonlySet<string> = new Set([
  "installing",
  "starting",
  "restarting",
  "stopping",
  "removing",
  "pending",
  "running",
  "retrying",
  "deleting",
]);

const capitalized = (word: string) => word.charAt(0).toUpperCase() + word.slice(1);

const statusText = (status: string): string => status.replaceAll("_", "-");

type Tab = { label: string; statuses: readonly string[]; count: number; isCurrent: boolean };

/**
 * Returns the tabs of a list: all, everything in transit as one, and each other status that a row has or that is
 * requested.
 * @param counts from the service: all of its statuses, problems first
 * @param wanted statuses, separated by commas
 */
export function tabsOf(counts: Readonly<Record<string, number>> = {}, wanted = ""): Tab[] {
  const known = Object.keys(counts).filter((status) => status !== "all");
  const groups = [
    ...known.filter((status) => !moving.has(status)).map((status) => [status]),
    known.filter((status) => moving.has(status)),
  ].filter((group) => group.length > 0);
  const current = wanted === "" ? [] : wanted.split(",");
  const isCurrent = (group: readonly string[]) =>
    group.length === current.length && group.every((status) => current.includes(status));
  if (current.length > 0 && !groups.some(isCurrent)) groups.push(current);
  const tabs = groups.map((statuses) => ({
    label:
      statuses.every((status) => moving.has(status)) && statuses.length > 1
        ? "In progress"
        : capitalized(statuses.map(statusText).join(", ")),
    statuses,
    count: statuses.reduce((sum, status) => sum + (counts[status] ?? 0), 0),
    isCurrent: isCurrent(statuses),
  }));
  const all = { label: "All", statuses: [], count: counts["all"] ?? 0, isCurrent: wanted === "" };
  return [all, ...tabs.filter(({ count, isCurrent }) => count > 0 || isCurrent)];
}

const sortTexts: Record<string, string> = {
  attention: "Needs attention first",
  "-id": "Newest first",
  id: "Oldest first",
  "-size": "Largest first",
  next_run_at: "Next run first",
};

/** A list can be sorted by id in both directions, otherwise in one. */
const directions: Record<string, readonly string[]> = { id: ["-id", "id"], size: ["-size"] };

export const sortChoices = (sorts: readonly string[], current: string) =>
  [...new Set([...sorts.flatMap((sort) => directions[sort] ?? [sort]), current])].map((value) => ({
    value,
    text:
      sortTexts[value] ??
      `By ${value.replace("-", "").replaceAll("_", " ")}${value.startsWith("-") ? ", descending" : ""}`,
  }));

export const perPageChoices = (current: string) =>
  [...new Set(["20", "50", String(maxPerPage), current])].map((value) => ({
    value,
    text: `${value} per page`,
  }));

/** Describes a filter: “emails”, failed. */
export const filterText = ({ q, status }: ListView): string =>
  [
    ...(q ? [`“${q}”`] : []),
    ...(status ? [`status ${status.split(",").map(statusText).join(" or ")}`] : []),
  ].join(" and ");
