/** The embedded PostgreSQL cannot run, for a reason that an operator can fix; the message says which and how. */
export class EmbeddedPostgresError extends Error {
  override name = "EmbeddedPostgresError";
}
