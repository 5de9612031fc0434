/** Which projects of a root have something by the name of a session: one look at every project, and then none. */
import { readdirSync } from "node:fs";
import { errnoName } from "../platform/errno";
import { Breather } from "./breather";
import { directoriesOf } from "./discovery";
import { encodeSegment, flatLogName, projectDirectory } from "./paths";

/** Only ever a list of candidates: whether a log is there is asked of the file system each time. */
export class ProjectIndex {
  readonly #projects = new Map<string, string[]>();
  /** Projects that cannot be listed may have any session. */
  readonly #unlisted: string[] = [];

  /** Throws a typed error for a root that cannot be read. */
  static async of(root: string): Promise<ProjectIndex> {
    const index = new ProjectIndex();
    const breather = new Breather(undefined);
    for (const project of directoriesOf(root)) {
      if (breather.isDue) await breather.breathe();
      index.#list(project);
    }
    return index;
  }

  /** The project directories in which a log of this id may be. */
  projectsWith(id: string): readonly string[] {
    return id === "" ? [] : [...(this.#projects.get(encodeSegment(id)) ?? []), ...this.#unlisted];
  }

  /** A session is about to be created here. */
  add(root: string, id: string, cwd: string | undefined): void {
    this.#note(encodeSegment(id), projectDirectory(root, cwd));
  }

  #list(project: string): void {
    try {
      for (const name of readdirSync(project)) this.#note(flatLogName(name) ?? name, project);
    } catch (error) {
      if (errnoName(error) === undefined) throw error;
      this.#unlisted.push(project);
    }
  }

  #note(name: string, project: string): void {
    const known = this.#projects.get(name);
    if (known === undefined) this.#projects.set(name, [project]);
    else if (!known.includes(project)) known.push(project);
  }
}
