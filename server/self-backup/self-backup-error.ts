/** A backup of Quarterdeck itself could not be made or restored. The message is for the operator, and contains no secret. */
export class SelfBackupError extends Error {
  override name = "SelfBackupError";
}
