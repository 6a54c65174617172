// URL of the module that imports all tasks of the folder source, see `defineTask`.
export const folderTasks = new URL("source.ts", import.meta.url).href;
