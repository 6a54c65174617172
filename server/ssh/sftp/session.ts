// A session of SFTP over the system's ssh: many requests at once, each with its answer, and an end for all of them.
import { PassThrough } from "node:stream";
import type { Host } from "../../hosts/host.ts";
import { toError } from "../../to-error.ts";
import { ServerAway, toShownText } from "../server-away.ts";
import {
  answers,
  createCutter,
  createReader,
  packet,
  requests,
  statuses,
  type Field,
  type Reader,
} from "./packets.ts";

/** The server refused a request. */
export class SftpRefusal extends Error {
  override name = "SftpRefusal";
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

type Answer = { type: number; content: Reader };

export type SftpSession = {
  /** What the server can do beside version 3. */
  extensions: ReadonlySet<string>;
  /** @throws SftpRefusal, or what ended the session */
  request(type: number, fields: readonly Field[], tail?: Buffer): Promise<Answer>;
  /** Aborted when it is over; the reason says why. */
  ended: AbortSignal;
  /** Ends it; nothing is awaited any more. */
  close(): void;
};

type SessionOptions = {
  host: Pick<Host, "run">;
  argv: readonly [string, ...string[]];
  environment: Record<string, string>;
  signal: AbortSignal;
  /** How long nothing may arrive while something is awaited. */
  idleMs: number;
  place: string;
  /** Of an `ssh` that has ended. */
  explain(stderr: string): Error;
};

/** @throws ServerAway, or the signal's reason */
export async function openSftp(options: SessionOptions): Promise<SftpSession> {
  const { host, argv, environment, signal, idleMs, place, explain } = options;
  const input = new PassThrough();
  // The end of ssh says why.
  input.on("error", () => undefined);
  const ending = new AbortController();
  const waiting = new Map<number, PromiseWithResolvers<Answer>>();
  const version = Promise.withResolvers<ReadonlySet<string>>();
  version.promise.catch(() => undefined);
  let ended: Error | null = null;
  let isOpen = false;
  let next = 0;
  let timer: NodeJS.Timeout | undefined;

  function end(error: Error): void {
    ended ??= error;
    clearTimeout(timer);
    version.reject(ended);
    for (const { reject } of waiting.values()) reject(ended);
    waiting.clear();
    ending.abort(ended);
  }

  /** Counts from the last byte on, and only while something is awaited. */
  function watch(isAwaited: boolean): void {
    clearTimeout(timer);
    if (isAwaited && ended === null)
      timer = setTimeout(
        () => end(new ServerAway("silent", `${place} stopped responding.`)),
        idleMs,
      ).unref();
  }

  function take(type: number, content: Buffer): void {
    const reader = createReader(content);
    if (type === answers.version) {
      reader.number();
      const names = new Set<string>();
      for (; !reader.isAtEnd(); reader.bytes()) names.add(reader.text());
      isOpen = true;
      version.resolve(names);
      return;
    }
    const id = reader.number();
    const found = waiting.get(id);
    waiting.delete(id);
    if (found === undefined) return;
    if (type !== answers.status) return found.resolve({ type, content: reader });
    const status = reader.number();
    if (status === statuses.ok) found.resolve({ type, content: reader });
    else found.reject(new SftpRefusal(status, reader.isAtEnd() ? "" : reader.text()));
  }

  const cut = createCutter(take);
  watch(true);
  host
    .run({
      argv,
      environment,
      input,
      async take(piece) {
        cut(piece);
        watch(waiting.size > 0);
      },
      signal: AbortSignal.any([signal, ending.signal]),
    })
    .then(
      ({ stderr }) =>
        end(
          // Of a session that is cut behind the login, ssh says nothing.
          isOpen || stderr.trim() === ""
            ? new ServerAway("lost", `The connection to ${place} was lost.`)
            : explain(stderr),
        ),
      (error: unknown) => end(signal.aborted ? toError(signal.reason) : toError(error)),
    );
  input.write(packet(requests.init, null, [3]));

  return {
    extensions: await version.promise,
    request(type, fields, tail) {
      if (ended !== null) return Promise.reject(ended);
      const id = next;
      next = (next + 1) % 0x1_0000_0000;
      const answer = Promise.withResolvers<Answer>();
      waiting.set(id, answer);
      if (waiting.size === 1) watch(true);
      input.write(packet(type, id, fields, tail));
      if (tail !== undefined) input.write(tail);
      return answer.promise;
    },
    ended: ending.signal,
    close: () => end(new Error("The session was closed.")),
  };
}

/** What a server said, for the operator. */
export const shownRefusal = ({ status, message }: SftpRefusal): string =>
  toShownText(message).replace(/\.+$/, "") || `status ${status}`;
