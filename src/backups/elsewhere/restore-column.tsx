import { Button } from "../../ui/Button.tsx";
import { actionsColumn, type Column } from "../../ui/Table.tsx";

/**
 * The last column of what a backup holds: puts one of it back.
 * @param nameOf what is restored; null = this one can't be restored by itself
 */
export const restoreColumn = <Row,>(
  nameOf: (row: Row) => string | null,
  restore: (name: string) => void,
  refusal: string | undefined,
): Column<Row> =>
  actionsColumn((row: Row) => {
    const name = nameOf(row);
    return (
      name !== null && (
        <Button
          size="sm"
          isChange
          aria-label={`Restore ${name}`}
          disabledReason={refusal}
          onClick={() => restore(name)}
        >
          Restore
        </Button>
      )
    );
  });
