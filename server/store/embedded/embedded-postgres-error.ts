/** The embedded PostgreSQL cannot run for a reason an operator can mend; the message says which and how. */
export class EmbeddedPostgresError extends Error {
  override name = "EmbeddedPostgresError";
}
