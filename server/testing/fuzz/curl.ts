// A request as a line for a shell, so that a failure can be seen again by hand.

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

export function toCurl(
  method: string,
  url: string,
  headers: readonly (readonly [string, string])[],
  body: Uint8Array | null,
): string {
  const words = [
    "curl --path-as-is --globoff -sS",
    method === "HEAD" ? "-I" : `-X ${method}`,
    quoted(url),
    ...headers.map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    // Never the token itself: what is printed ends up in reports.
    '-H "Authorization: Bearer $QUARTERDECK_TOKEN"',
  ];
  if (body === null) return words.join(" ");
  // Base64, because a body may hold what neither a shell nor a terminal takes.
  const encoded = Buffer.from(body).toString("base64");
  return `printf %s ${encoded} | base64 -d | ${words.join(" ")} --data-binary @-`;
}
