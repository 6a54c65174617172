// The number of failures in the title and icon of the browser's tab.
import type { Overview } from "../../../contract/overview.ts";

/** Counts all problems except databases and sites without a backup configuration. */
export function failureCount({
  workers,
  webhooks,
  channels,
  protection,
  servers = [],
}: Overview): number {
  const unprotected =
    protection === undefined
      ? 0
      : protection.total -
        protection.protected -
        protection.unconfigured +
        (protection.warned ?? 0);
  return [workers, webhooks, channels].reduce(
    (sum, { failing, problems }) => sum + (failing ?? problems.length),
    unprotected + servers.filter(({ unreachable }) => unreachable != null).length,
  );
}

const icon = (mark: string) =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#4650d6"/><path d="M16 6.5 23 19H16z" fill="#fff"/><path d="M14 10.5V19H9.2z" fill="#bfc5ff"/><path d="M6 22h20" stroke="#fff" stroke-width="2.5" stroke-linecap="round"/>${mark}</svg>`;

/** Returns the URL of the icon with the number on it. */
export function iconOf(count: number): string {
  if (count === 0) return "/favicon.svg";
  const text = count > 9 ? "9+" : String(count);
  const mark = `<circle cx="21.5" cy="21.5" r="10.5" fill="#b3261e"/><text x="21.5" y="26" text-anchor="middle" font-family="sans-serif" font-weight="700" font-size="${text.length > 1 ? 11 : 14}" fill="#fff">${text}</text>`;
  return `data:image/svg+xml,${encodeURIComponent(icon(mark))}`;
}
