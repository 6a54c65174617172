// Shell scripts that stand in for a site's `artisan`.

/**
 * Waits, which costs no time, and ends at SIGTERM with what it waits for: a restart waits for all that is left in a group.
 * By SIGKILL, because a child that has just been forked still has the shell's own handler for the other.
 * @param last commands to run at the signal, each with its semicolon
 */
export const endsWhenAsked = (last = ""): string =>
  `trap '${last} kill -KILL $! 2>/dev/null; exit 0' TERM; while :; do sleep 86400 & wait $!; done\n`;

/** Says what it was called with, and that it ends. */
export const patientArtisan = `echo "called with $*"; ${endsWhenAsked("echo bye;")}`;
