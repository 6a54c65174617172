// Reads an exact number of bytes from the input of a script in a POSIX shell, because what follows them is for somebody else.

/** Commands that read `$1` bytes. The `head` of BusyBox reads more, and drops it; others' `dd` may not know `fullblock`. */
export const exactReaders = {
  head: 'head -c "$1"',
  dd: '[ "$1" = 0 ] || dd bs="$1" count=1 iflag=fullblock 2>/dev/null',
};
export type ExactReader = keyof typeof exactReaders;

/** A command that succeeds where `head` reads no more than it should. */
export const isHeadExact = String.raw`printf 'a\nb\n' | { head -c 2 >/dev/null; IFS= read -r b; }`;
