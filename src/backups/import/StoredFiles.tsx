// Selects a file in a storage that Quarterdeck did not store.
import { useQuery } from "@tanstack/react-query";
import { useId, useState } from "react";
import { ErrorText } from "../../app/ErrorText.tsx";
import { Button } from "../../ui/button/Button.tsx";
import { Field } from "../../ui/form/Field.tsx";
import { Input } from "../../ui/form/Input.tsx";
import { Skeleton } from "../../ui/feedback/Skeleton.tsx";
import { formatBytes } from "../backup-facts.ts";
import { importableFilesQuery } from "./queries.ts";

type StoredFilesProps = {
  storageId: number;
  path: string | null;
  error: string | undefined;
  /** Null = the selected file may not be in the present list. */
  onChoose: (path: string | null) => void;
};

export function StoredFiles({ storageId, path, error, onChoose }: StoredFilesProps) {
  const [typed, setTyped] = useState("");
  const [prefix, setPrefix] = useState("");
  const files = useQuery(importableFilesQuery(storageId, prefix));
  const group = useId();
  const list = () => {
    onChoose(null);
    // The same prefix lists the storage again, which may have changed.
    if (typed.trim() === prefix) void files.refetch();
    setPrefix(typed.trim());
  };
  const found = files.data?.files ?? [];
  return (
    <div className="grid gap-3">
      <Field label="Path begins with" error={error} help="Leave empty to list all files.">
        {(aria) => (
          <span className="flex gap-2">
            <Input
              {...aria}
              value={typed}
              autoComplete="off"
              onChange={({ target: { value } }) => setTyped(value)}
              onKeyDown={(event) => {
                if (event.key !== "Enter") return;
                // Enter would otherwise submit the form.
                event.preventDefault();
                list();
              }}
            />
            <Button onClick={list}>List</Button>
          </span>
        )}
      </Field>
      {files.isFetching && <Skeleton width="w-40" />}
      {files.error !== null && (
        <p role="alert" className="text-sm text-bad">
          <ErrorText error={files.error} />
        </p>
      )}
      {files.data !== undefined && (
        <fieldset className="grid max-h-80 auto-rows-max gap-1 overflow-y-auto">
          <legend className="sr-only">Files in the storage</legend>
          {found.length === 0 && (
            <p className="text-sm wrap-anywhere text-muted">
              {prefix === "" ? "There are no files to import" : `No results for “${prefix}”`}. Copy
              one into the storage, then list again.
            </p>
          )}
          {found.map((one) => (
            <label
              key={one.path}
              className="flex min-h-8 items-center gap-2.5 rounded-md px-2 text-sm hover:bg-hover"
            >
              <input
                type="radio"
                className="shrink-0"
                name={group}
                checked={one.path === path}
                onChange={() => onChoose(one.path)}
              />
              <span className="min-w-0 flex-1 font-mono text-xs wrap-anywhere">{one.path}</span>
              <span className="whitespace-nowrap text-muted">{formatBytes(one.size)}</span>
            </label>
          ))}
          {!files.data.is_complete && (
            <p className="text-sm text-muted">
              There are more. Type the beginning of the path to find them.
            </p>
          )}
        </fieldset>
      )}
    </div>
  );
}
