// Collects the output of a run: lines of text, of which the last 16 KiB are kept.

const maxCharacters = 16 * 1024;

export type Output = {
  /** Adds one or more lines. */
  say(line: string): void;
  text(): string;
};

export function createOutput(text = ""): Output {
  return {
    say(line) {
      text = `${text}${line.trimEnd()}\n`;
      if (text.length > maxCharacters) text = `…${text.slice(-maxCharacters + 1)}`;
    },
    text: () => text,
  };
}
