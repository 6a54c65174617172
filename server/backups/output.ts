// What a run says while it works: the last 16 KiB of it, one line after the other.

const maxCharacters = 16 * 1024;

export type Output = {
  /** Adds a line, or several. */
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
