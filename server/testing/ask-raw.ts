// Sends a request as bytes on a socket, for requests that no client of Node can send.
import { connect } from "node:net";
import { text } from "node:stream/consumers";

type RawAnswer = { status: number; headers: Headers; body: string };

/**
 * @param url of the service, for the connection and the default `Host`
 * @param line the request line, e.g. `GET /api/servers HTTP/1.1`
 * @param headers all headers; by default the `Host` of `url`
 */
export async function askRaw(
  url: string,
  line: string,
  headers: readonly string[] = [`Host: ${new URL(url).host}`],
  body: string | Uint8Array = "",
): Promise<RawAnswer> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname.replace(/[[\]]/g, ""));
  socket.write(Buffer.from([line, ...headers, "Connection: close", "", ""].join("\r\n"), "latin1"));
  socket.write(body);
  return parseAnswer(await text(socket));
}

function parseAnswer(answer: string): RawAnswer {
  const end = answer.indexOf("\r\n\r\n");
  const [first = "", ...lines] = answer.slice(0, end).split("\r\n");
  const pairs = lines.map((line): [string, string] => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon), line.slice(colon + 1).trim()];
  });
  return {
    status: Number(first.split(" ")[1]),
    headers: new Headers(pairs),
    body: answer.slice(end + 4),
  };
}
