/** Messages for the operator. A pino logger implements it. */
export type Log = {
  info(text: string): void;
  warn(text: string): void;
  error(text: string): void;
};
