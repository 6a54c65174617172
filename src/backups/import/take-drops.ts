/**
 * A ref for a file input that accepts files dropped anywhere on the page. Outside of the input, a browser would open
 * the file instead of the page, and lose its values and a running upload.
 */
export function takeDrops(input: HTMLInputElement): () => void {
  const take = (event: DragEvent) => {
    const { dataTransfer, target, type } = event;
    if (dataTransfer?.types.includes("Files") !== true || target === input) return;
    event.preventDefault();
    if (type !== "drop") return;
    input.files = dataTransfer.files;
    input.dispatchEvent(new Event("change", { bubbles: true }));
  };
  addEventListener("dragover", take);
  addEventListener("drop", take);
  return () => {
    removeEventListener("dragover", take);
    removeEventListener("drop", take);
  };
}
