const required = /^The .+ field is required\.$/;
const invalidChoice = /^The selected .+ is invalid\.(?: It must be .+)?$/;
const complaint = /^The .+? field (.+)$/;

/**
 * Rewords an error whose text the interface defines, so that it uses the label of the field: "The max jobs field must
 * be an integer." becomes "Max jobs must be a whole number." Other texts are unchanged.
 * @param emptyText the error of a required field that is empty
 */
export function fieldErrorText(
  error: string,
  label: string,
  emptyText = `${label} is required.`,
): string {
  if (required.test(error)) return emptyText;
  if (invalidChoice.test(error)) return `Choose a valid ${label.toLowerCase()}.`;
  return error
    .replace(complaint, (_text, rest: string) => `${label} ${rest}`)
    .replace("must be an integer", "must be a whole number");
}
