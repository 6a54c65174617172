// What a run says while it works: the last 16 KiB of it, one line after the other.

const mostCharacters = 16 * 1024;

export type Output = {
  /** Adds a line, or several. */
  say(line: string): void;
  text(): string;
};

export function createOutput(text = ""): Output {
  return {
    say(line) {
      // A column of text holds no NUL, and a tool may print anything.
      const clean = line.replaceAll("\0", "").trimEnd();
      text = `${text}${clean}\n`;
      if (text.length > mostCharacters) text = `…${text.slice(-mostCharacters + 1)}`;
    },
    text: () => text,
  };
}
