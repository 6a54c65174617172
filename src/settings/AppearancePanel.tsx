import { useStore } from "../store.ts";
import { ChoiceList } from "../ui/ChoiceList.tsx";
import { Panel } from "../ui/Panel.tsx";
import { appearance, type Scheme, schemes } from "./appearance.ts";

const labels: Record<Scheme, string> = {
  system: "System",
  light: "Light",
  dark: "Dark",
};
const options = schemes.map((value) => ({ value, label: labels[value] }));

export function AppearancePanel() {
  const scheme = useStore(appearance.scheme);
  return (
    <Panel title="Appearance">
      <div className="px-4 py-4 max-sm:px-3">
        <ChoiceList legend="Theme" options={options} value={scheme} onChange={appearance.choose} />
      </div>
    </Panel>
  );
}
