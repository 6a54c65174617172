export const loadBulkDialog = async () => (await import("./BulkDialog.tsx")).BulkDialog;
