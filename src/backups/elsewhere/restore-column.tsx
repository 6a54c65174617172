import { Button } from "../../ui/button/Button.tsx";
import { actionsColumn, type Column } from "../../ui/table/Table.tsx";

/**
 * Returns the last column of a table of contents, with a button that restores the row.
 * @param nameOf name of the row
 * @param refusal why nothing can be restored now
 * @param whyNot why this row cannot be restored separately
 */
export const restoreColumn = <Row,>(
  nameOf: (row: Row) => string,
  restore: (name: string) => void,
  refusal: string | undefined,
  whyNot?: (name: string) => string | undefined,
): Column<Row> =>
  actionsColumn((row: Row) => {
    const name = nameOf(row);
    return (
      <Button
        size="sm"
        isChange
        aria-label={`Restore ${name}`}
        disabledReason={refusal ?? whyNot?.(name)}
        onClick={() => restore(name)}
      >
        Restore
      </Button>
    );
  });
