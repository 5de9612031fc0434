import path from "node:path";

/** Where the host and its clients meet: files of the extension's support folder, no port, no socket. */
export function hostPaths(supportPath: string): {
  folder: string;
  state: string;
  requests: string;
  log: string;
  announced: string;
  lock: string;
} {
  const folder = path.join(supportPath, "host");
  return {
    folder,
    state: path.join(folder, "state.json"),
    requests: path.join(folder, "requests"),
    log: path.join(folder, "host.log"),
    announced: path.join(folder, "announced"),
    lock: path.join(folder, "running"),
  };
}
