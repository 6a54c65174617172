import { Button } from "../../ui/Button.tsx";
import { actionsColumn, type Column } from "../../ui/Table.tsx";

/**
 * The last column of what a backup holds: puts one of it back.
 * @param nameOf what is restored
 * @param refusal why none of it can be restored now
 * @param whyNot why this one can't be restored by itself
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
