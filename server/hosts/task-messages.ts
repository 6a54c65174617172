// Messages between the service and a child process that performs a task: lines of JSON on a separate pipe. The account may be
// hostile, so every line is validated, and its length is limited.
import type { Readable, Writable } from "node:stream";
import * as z from "zod/mini";
import { accountSchema } from "./account.ts";
import { eachLine } from "./lines.ts";
import { toError } from "../to-error.ts";

const taskRequest = z.object({
  module: z.string(),
  name: z.string(),
  args: z.optional(z.unknown()),
  account: accountSchema,
  /** Whether the standard input and output of the process belong to the task. */
  hasStreams: z.boolean(),
});
export type TaskRequest = z.infer<typeof taskRequest>;

const toChild = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("perform"), request: taskRequest }),
  z.object({ kind: z.literal("input ended") }),
  z.object({ kind: z.literal("input failed"), message: z.string() }),
  z.object({ kind: z.literal("abort") }),
]);
export type ToChild = z.infer<typeof toChild>;

/** The parts of an error that are transferred. */
const errorRecord = z.object({
  name: z.string(),
  message: z.string(),
  code: z.optional(z.string()),
  syscall: z.optional(z.string()),
  path: z.optional(z.string()),
});
type ErrorRecord = z.infer<typeof errorRecord>;

const fromChild = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("said"), line: z.string() }),
  z.object({ kind: z.literal("done"), result: z.optional(z.unknown()) }),
  z.object({ kind: z.literal("failed"), error: errorRecord }),
]);
export type FromChild = z.infer<typeof fromChild>;

/** File descriptor of the pipe in the child. */
export const channelNumber = 3;

export const sendLine = (channel: Writable, message: ToChild | FromChild): void => {
  if (channel.writable) channel.write(`${JSON.stringify(message)}\n`);
};

/** A longer line is split, and no part of it is a valid message. */
const maxMessageCharacters = 16 * 1024 * 1024;

/** @param onMessage called with null for a line that is not a valid message */
function onMessages<Message>(
  channel: Readable,
  parse: (value: unknown) => { success: boolean; data?: Message },
  onMessage: (message: Message | null) => void,
): void {
  const read = (line: string): Message | null => {
    try {
      return parse(JSON.parse(line)).data ?? null;
    } catch {
      return null;
    }
  };
  eachLine(channel, (line) => onMessage(read(line)), maxMessageCharacters);
}

export const hearChild = (channel: Readable, onMessage: (message: FromChild | null) => void) =>
  onMessages(channel, (value) => fromChild.safeParse(value), onMessage);

export const hearService = (channel: Readable, onMessage: (message: ToChild | null) => void) =>
  onMessages(channel, (value) => toChild.safeParse(value), onMessage);

export const recordError = (error: unknown): ErrorRecord => {
  if (!(error instanceof Error)) return { name: "Error", message: String(error) };
  const { name, message, code, syscall, path } = toError(error);
  return {
    name,
    message,
    ...(code === undefined ? {} : { code }),
    ...(syscall === undefined ? {} : { syscall }),
    ...(path === undefined ? {} : { path }),
  };
};

export const reviveError = ({ message, ...rest }: ErrorRecord): Error =>
  Object.assign(new Error(message), rest);
