import { environment, getPreferenceValues } from "@raycast/api";
import { Library, type Session } from "@persyk/store";
import { parseSettings, type Settings, type SettingsResult } from "./settings";

/** The preferences of the running command. */
export function readSettings(): SettingsResult {
  return parseSettings(getPreferenceValues(), { development: environment.isDevelopment });
}

export function openLibrary({ writeRoot, additionalRoots }: Settings): Library {
  return new Library({ writeRoot, additional: additionalRoots });
}

/** Opens a session for one piece of work and closes it whatever happens. */
export async function withSession<Result>(
  library: Library,
  idOrLocation: string,
  work: (session: Session) => Promise<Result>,
  options: { signal?: AbortSignal } = {},
): Promise<Result> {
  const session = await library.open(idOrLocation, options);
  try {
    return await work(session);
  } finally {
    await session.close();
  }
}
