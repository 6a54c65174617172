/** What this folder says to the operator. A pino logger is one. */
export type Log = {
  info(text: string): void;
  warn(text: string): void;
  error(text: string): void;
};
