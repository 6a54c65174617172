// Whether what a schema says of one thing is a single statement. SQLite reads the first one and leaves the rest, so a file that
// somebody has made may have more behind it, which a script would run.

const tokens =
  /'[^']*'|"[^"]*"|`[^`]*`|\[[^\]]*\]|--[^\n]*|\/\*[^]*?(?:\*\/|$)|[;\0]|[\w$\x80-\uffff]+/g;

export function isOneStatement(type: string, sql: string): boolean {
  const found = (sql.match(tokens) ?? [])
    .filter((token) => !token.startsWith("--") && !token.startsWith("/*"))
    .map((token) => token.toUpperCase());
  if (found.includes("\0")) return false;
  if (type !== "trigger") return !found.includes(";");
  // The statements of a trigger end so, and its own does.
  return !found.some(
    (token, at) => token === "END" && found[at - 1] === ";" && found[at + 1] === ";",
  );
}
