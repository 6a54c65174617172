// A real S3-compatible storage for the tests, and a gate before it that can be told to misbehave.
import { createServer, request, type IncomingMessage, type ServerResponse } from "node:http";
import S3rver from "s3rver";
import type { S3Options } from "../s3.ts";
import { portOf } from "../../testing/port-of.ts";

type Verdict = "pass" | "reset" | "hang" | "lost" | "cut" | "stall" | number;

export type Gate = {
  options: S3Options;
  /** What was asked for since the last look: method, path and query. */
  asked(): string[];
  /** What the client has given up before it had the whole answer. */
  givenUp(): string[];
  /**
   * Says what becomes of each request: `pass`, an answer's code, `reset` breaks the connection in the middle of the
   * request's body or, where it has none, before the answer, `hang` never answers, `lost` carries it out and breaks the connection instead of an answer, `cut` breaks it in the middle of the answer,
   * `stall` never ends that. A promise has the request wait for it.
   */
  rule(next: (asked: string) => Verdict | Promise<Verdict>): void;
  /** From now on it says of each file that it is locked until then, as a bucket with object lock would; null = of none. */
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
  // A server that listens on a port has an address with one.
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
      // An upload that was broken off keeps its connection open for ever.
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
