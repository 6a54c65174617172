// The fields of a new worker.
import { useFormContext, useWatch } from "react-hook-form";
import { defaultStopWait, stopSignals } from "../../contract/workers/worker.ts";
import { toText } from "../app/form-values.ts";
import { Checkbox } from "../ui/Checkbox.tsx";
import { FieldGroup } from "../ui/FieldGroup.tsx";
import { Input } from "../ui/Input.tsx";
import { Select } from "../ui/Select.tsx";
import { NumberField, WorkerFieldFrame } from "./WorkerField.tsx";
import { limitFields, supervisionFields, workFields } from "./worker-fields.ts";
import { toPreview, type WorkerFormValues } from "./worker-form.ts";

type WorkerFieldsProps = {
  /** The site's folder, where it is known. */
  root: string | undefined;
  /** Of the machine, in MB; null where it is not known. */
  machineMemory: number | null;
};

export function WorkerFields({ root, machineMemory }: WorkerFieldsProps) {
  const { register, control } = useFormContext<WorkerFormValues>();
  const timeout = useWatch({ control, name: "timeout" });
  return (
    <>
      <FieldGroup title="Queue">
        <WorkerFieldFrame
          name="connection"
          label="Connection"
          help="A queue connection from the site's config/queue.php."
          machineMemory={machineMemory}
        >
          {(aria) => <Input {...aria} {...register("connection", { setValueAs: toText })} isCode />}
        </WorkerFieldFrame>
        <WorkerFieldFrame
          name="queue"
          label="Queue"
          help="One or more queues in order of priority: high,default"
          machineMemory={machineMemory}
        >
          {(aria) => <Input {...aria} {...register("queue", { setValueAs: toText })} isCode />}
        </WorkerFieldFrame>
        <WorkerFieldFrame
          name="directory"
          label="Directory"
          help="Working directory inside the site's folder. Leave empty to use the folder itself."
          machineMemory={machineMemory}
        >
          {(aria) => (
            <Input
              {...aria}
              {...register("directory", { setValueAs: toText })}
              isCode
              placeholder={root}
            />
          )}
        </WorkerFieldFrame>
        {workFields.map((field) => (
          <NumberField key={field.name} {...field} machineMemory={machineMemory} />
        ))}
        <WorkerFieldFrame
          name="force"
          label="Force"
          help="Run jobs even while the site is in maintenance mode."
          layout="beside"
          machineMemory={machineMemory}
        >
          {(aria) => <Checkbox {...aria} {...register("force")} />}
        </WorkerFieldFrame>
      </FieldGroup>
      <FieldGroup title="Limits">
        {limitFields.map((field) => (
          <NumberField key={field.name} {...field} machineMemory={machineMemory} />
        ))}
      </FieldGroup>
      <FieldGroup title="Supervision">
        {supervisionFields.map((field) => (
          <NumberField
            key={field.name}
            {...field}
            machineMemory={machineMemory}
            {...(field.name === "stopwaitsecs" && {
              placeholder: String(defaultStopWait(toPreview({ timeout }).timeout)),
            })}
          />
        ))}
        <WorkerFieldFrame
          name="stopsignal"
          label="Stop signal"
          help="Signal sent to stop a process. TERM lets the running job finish."
          machineMemory={machineMemory}
        >
          {(aria) => (
            <Select {...aria} {...register("stopsignal")}>
              {stopSignals.map((signal) => (
                <option key={signal}>{signal}</option>
              ))}
            </Select>
          )}
        </WorkerFieldFrame>
        <WorkerFieldFrame
          name="stopasgroup"
          label="Stop as group"
          help="Also send the stop signal to child processes. For commands that don't forward signals."
          layout="beside"
          machineMemory={machineMemory}
        >
          {(aria) => <Checkbox {...aria} {...register("stopasgroup")} />}
        </WorkerFieldFrame>
      </FieldGroup>
    </>
  );
}
