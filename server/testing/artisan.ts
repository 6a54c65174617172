// Provides shell scripts that take the place of a site's `artisan`.

/**
 * Waits idly, and exits at SIGTERM together with its child, because a restart waits for the whole process group. Kills the
 * child with SIGKILL, because a child that has just been forked still has the shell's own handler of SIGTERM.
 * @param last commands to run at the signal, each followed by a semicolon
 */
export const endsWhenAsked = (last = ""): string =>
  `trap '${last} kill -KILL $! 2>/dev/null; exit 0' TERM; while :; do sleep 86400 & wait $!; done\n`;

/** Prints its arguments, and "bye" when it exits. */
export const patientArtisan = `echo "called with $*"; ${endsWhenAsked("echo bye;")}`;
