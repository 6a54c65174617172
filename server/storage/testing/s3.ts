// A real S3-compatible storage for tests, and a proxy in front of it that misbehaves on demand.
import { createServer, request, type IncomingMessage, type ServerResponse } from "node:http";
import S3rver from "s3rver";
import type { S3Options } from "../s3.ts";
import { portOf } from "../../testing/port-of.ts";

type Verdict = "pass" | "reset" | "hang" | "lost" | "cut" | "stall" | number;

export type Gate = {
  options: S3Options;
  /** Returns the requests since the last call: method, path and query. */
  asked(): string[];
  /** Returns the requests that the client aborted before the end of the response. */
  givenUp(): string[];
  /**
   * Sets the outcome of each request: `pass`; a status code of a response; `reset` breaks the connection in the middle of the
   * request's body or, where it has none, before the response; `hang` never responds; `lost` executes the request and breaks the
   * connection instead of responding; `cut` breaks it in the middle of the response; `stall` never ends the response. A promise
   * delays the request.
   */
  rule(next: (asked: string) => Verdict | Promise<Verdict>): void;
  /** Reports each file as locked until then, as a bucket with object lock would; null = not locked. */
  lock(until: Date | null): void;
  close(): Promise<void>;
};

/** @param directory where the storage keeps its objects */
export async function startS3(directory: string): Promise<Gate> {
  const storage = new S3rver({
    port: 0,
    address: "127.0.0.1",
    silent: true,
    directory,
    configureBuckets: [{ name: "copies" }],
  });
  const { port: storagePort } = await storage.run();
  let asked: string[] = [];
  const givenUp: string[] = [];
  let decide: Parameters<Gate["rule"]>[0] = () => "pass";
  let locks: Record<string, string> = {};

  async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const what = `${incoming.method} ${incoming.url}`;
    asked.push(what);
    outgoing.once("close", () => outgoing.writableFinished || givenUp.push(what));
    const decision = decide(what);
    const verdict = typeof decision === "object" ? await decision : decision;
    if (incoming.destroyed) return;
    if (verdict === "pass" || verdict === "lost" || verdict === "cut" || verdict === "stall")
      return pass(incoming, outgoing, storagePort, { more: locks, verdict });
    if (verdict === "hang") return;
    if (verdict === "reset") {
      const reset = () => incoming.socket.destroy();
      incoming.once("data", reset).once("end", reset);
      return;
    }
    incoming.resume().once("end", () => outgoing.writeHead(verdict).end());
  }
  const gate = createServer((incoming, outgoing) => void answer(incoming, outgoing));
  await new Promise<void>((resolve) => gate.listen(0, "127.0.0.1", resolve));
  const port = portOf(gate);

  return {
    options: {
      bucket: "copies",
      region: "us-east-1",
      endpoint: `http://127.0.0.1:${port}`,
      accessKey: "S3RVER",
      secretKey: "S3RVER",
    },
    asked: () => asked.splice(0),
    givenUp: () => givenUp.splice(0),
    rule: (next) => {
      decide = next;
      asked = [];
    },
    lock(until) {
      const name = "x-amz-object-lock";
      locks =
        until === null
          ? {}
          : { [`${name}-mode`]: "COMPLIANCE", [`${name}-retain-until-date`]: until.toISOString() };
    },
    async close() {
      gate.closeAllConnections();
      gate.close();
      // An interrupted upload keeps its connection open forever.
      storage.httpServer?.closeAllConnections();
      await storage.close();
    },
  };
}

function pass(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  port: number,
  { more, verdict }: { more: Record<string, string>; verdict: "pass" | "lost" | "cut" | "stall" },
): void {
  const { method, url: path, headers } = incoming;
  const onward = request(
    { host: "127.0.0.1", port, method, path, headers, agent: false },
    (answer) => {
      if (verdict === "lost") return void answer.resume().once("end", () => outgoing.destroy());
      outgoing.writeHead(answer.statusCode ?? 502, { ...answer.headers, ...more });
      if (verdict === "pass") answer.pipe(outgoing);
      else
        answer.once("data", (some) =>
          outgoing.write(some, () => verdict === "cut" && outgoing.destroy()),
        );
    },
  );
  onward.on("error", () => outgoing.destroy());
  outgoing.once("close", () => onward.destroy());
  incoming.pipe(onward);
}
