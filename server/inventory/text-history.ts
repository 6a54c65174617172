// The texts of the inventory that were shown lately: what somebody saw is compared with what is there now.

/** More people than that rarely have a form open; of older texts no difference is told. */
const maxTexts = 8;
const maxCharacters = 8_000_000;

export function createTextHistory() {
  const texts = new Map<string, string>();
  return {
    keep(version: string, text: string): void {
      texts.delete(version);
      texts.set(version, text);
      const size = () => [...texts.values()].reduce((sum, { length }) => sum + length, 0);
      for (const oldest of texts.keys()) {
        if (texts.size <= maxTexts && size() <= maxCharacters) break;
        texts.delete(oldest);
      }
    },
    find: (version: string): string | null => texts.get(version) ?? null,
  };
}
