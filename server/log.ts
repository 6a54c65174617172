// The log of the service. Every logger is made here, so that no error gets into one with the values it carries.
import { pino, type DestinationStream, type Logger, type LoggerOptions } from "pino";
import { messageOf, toLoggableError } from "./loggable-error.ts";

const options: LoggerOptions = {
  serializers: { err: (error: unknown) => toLoggableError(error) },
  hooks: {
    logMethod(parts, method) {
      const [first]: unknown[] = parts;
      const error = first instanceof Error ? first : errorIn(first);
      // Without words beside it, pino would take the error's own, as they are.
      if (parts.length === 1 && error !== undefined) parts.push(messageOf(error));
      method.apply(this, parts);
    },
  },
};

const errorIn = (object: unknown): unknown =>
  typeof object === "object" && object !== null && "err" in object ? object.err : undefined;

/** @param destination where its lines go; the standard output if not given */
export const createLog = (level: string, destination?: DestinationStream): Logger =>
  destination === undefined
    ? pino({ ...options, level })
    : pino({ ...options, level }, destination);

/** What code that runs without the service needs of a log. Compatible with pino. */
export type Log = Record<"info" | "warn" | "error", (fields: object, message: string) => void>;
