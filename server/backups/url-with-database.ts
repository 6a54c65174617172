/** The same database server, as the same account. */
export function urlWithDatabase(url: string, database: string): string {
  // What is no URL is refused by whoever reads it, in words.
  if (!URL.canParse(url)) return url;
  const changed = new URL(url);
  changed.pathname = `/${encodeURIComponent(database)}`;
  return changed.href;
}
