// Formats a request as a shell command, so that a failure can be reproduced by hand.

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
    // Not the token itself, because the output ends up in reports.
    '-H "Authorization: Bearer $QUARTERDECK_TOKEN"',
  ];
  if (body === null) return words.join(" ");
  // Base64, because a body may contain bytes that neither a shell nor a terminal accepts.
  const encoded = Buffer.from(body).toString("base64");
  return `printf %s ${encoded} | base64 -d | ${words.join(" ")} --data-binary @-`;
}
