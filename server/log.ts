// Creates all loggers of the service, so that no logged error contains the values that it carries.
import { pino, type DestinationStream, type Logger, type LoggerOptions } from "pino";
import { messageOf, toLoggableError } from "./loggable-error.ts";

const options: LoggerOptions = {
  serializers: { err: (error: unknown) => toLoggableError(error) },
  hooks: {
    logMethod(parts, method) {
      const [first]: unknown[] = parts;
      const error = first instanceof Error ? first : errorIn(first);
      // Without a message, pino would use the error's own, unfiltered.
      if (parts.length === 1 && error !== undefined) parts.push(messageOf(error));
      method.apply(this, parts);
    },
  },
};

const errorIn = (object: unknown): unknown =>
  typeof object === "object" && object !== null && "err" in object ? object.err : undefined;

/** @param destination of the lines; default: the standard output */
export const createLog = (level: string, destination?: DestinationStream): Logger =>
  destination === undefined
    ? pino({ ...options, level })
    : pino({ ...options, level }, destination);

/** The part of a log that code outside the service needs. Compatible with pino. */
export type Log = Record<"info" | "warn" | "error", (fields: object, message: string) => void>;
