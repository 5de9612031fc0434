/**
 * Event-log backend, On-disk layout: from a session's id to its log. A log of a known project is asked for directly, and
 * where a log was found is remembered; only an id of which nothing is known costs a look through the projects.
 */
import { basename } from "node:path";
import { StoreError } from "../errors";
import {
  assertRootEncoding,
  assertSearchable,
  directoriesOf,
  duplicate,
  findLogs,
  listLogs,
  probeLog,
  probePath,
  type HeaderCache,
  type Listing,
} from "./discovery";
import { at } from "./errors";
import { parseHeader } from "./header";
import { assertPlace } from "./identity";
import { withLog } from "./log-file";
import { plaintext, type ReadLimits } from "./plaintext";
import { ProjectIndex } from "./project-index";
import { type Compression, type EventLogHeader } from "./types";

export interface FinderOptions {
  readonly root: string;
  readonly compression: Compression;
  readonly limits: ReadLimits;
}

export class LogFinder {
  readonly #options: FinderOptions;
  /** Where logs were found, by id. A hint: each is looked at again before it is used. */
  readonly #paths = new Map<string, string>();
  readonly #headers: HeaderCache = new Map();
  #index: ProjectIndex | undefined;
  #rootIsOurs = false;

  constructor(options: FinderOptions) {
    this.#options = options;
  }

  /**
   * The one path of an id, or undefined. Of several, those whose header names another place are copies and do not
   * count; when more than one is left, or the only one is at fault, the read that follows says so.
   */
  async find(id: string, cwd: string | undefined, signal?: AbortSignal): Promise<string | undefined> {
    signal?.throwIfAborted();
    const direct = cwd === undefined ? undefined : probeLog(this.#options, id, cwd);
    const known = direct ?? (await this.#recall(id));
    if (known !== undefined) return known;
    const projects = directoriesOf(this.#options.root);
    const path = await this.#choose(id, await findLogs(this.#options, id, projects, signal));
    if (path === undefined) await assertSearchable(id, projects, signal);
    // Only what a look through all projects showed to be the only log of its id is remembered.
    if (path !== undefined) this.#paths.set(id, path);
    return path;
  }

  /**
   * The log that keeps an id from being created in a project, or undefined. The projects are looked through once; from
   * then on the answer costs the same however many there are. A session that another process has created since in
   * another project is not seen.
   */
  async findTaken(id: string, cwd: string | undefined): Promise<string | undefined> {
    const { root } = this.#options;
    const known = probeLog(this.#options, id, cwd) ?? (await this.#recall(id));
    if (known !== undefined) return known;
    this.#index ??= await ProjectIndex.of(root);
    const path = await this.#choose(id, await findLogs(this.#options, id, this.#index.projectsWith(id)));
    if (path === undefined) this.#index.add(root, id, cwd);
    return path;
  }

  /** Every session of the root, and what is wrong with the rest of it. What was found is remembered. */
  async list(signal?: AbortSignal): Promise<Listing> {
    const listing = await listLogs(this.#options, this.#headers, signal);
    for (const { header, path } of listing.sessions) this.#paths.set(header.id, path);
    for (const { code, sessionId } of listing.problems) {
      if (code === "event-log-duplicate" && sessionId !== undefined) this.#paths.delete(sessionId);
    }
    return listing;
  }

  /** The header of a log, in its place. Errors carry the path. */
  async header(path: string, id: string): Promise<EventLogHeader> {
    const { root, compression, limits } = this.#options;
    try {
      return await withLog(path, async (file, stats) => {
        const pieces = plaintext({ file, size: Number(stats.size), compression, limits });
        const first = await pieces.next();
        const line = first.done === true ? Buffer.alloc(0) : first.value.bytes.subarray(0, -1);
        const { header } = parseHeader(line);
        await pieces.return();
        await assertPlace({ root, compression, path }, header, id);
        return header;
      });
    } catch (error) {
      throw at(error, path, id);
    }
  }

  /** Once a root is known to be of our encoding it stays so; a failure is found anew each time. */
  async assertRootEncoding(): Promise<void> {
    if (this.#rootIsOurs) return;
    await assertRootEncoding(this.#options);
    this.#rootIsOurs = true;
  }

  /** A remembered path that still leads to the log of this id; anything else is looked for anew. */
  async #recall(id: string): Promise<string | undefined> {
    const path = this.#paths.get(id);
    if (path === undefined) return undefined;
    if (probePath(this.#options, path) !== undefined && (await this.#isUsable(path, id))) return path;
    this.#paths.delete(id);
    return undefined;
  }

  /** Whatever is wrong with a remembered log, the read of what is found anew says it. */
  async #isUsable(path: string, id: string): Promise<boolean> {
    try {
      await this.header(path, id);
      return true;
    } catch (error) {
      if (error instanceof StoreError) return false;
      throw error;
    }
  }

  async #choose(id: string, paths: readonly string[]): Promise<string | undefined> {
    if (paths.length <= 1) return paths[0];
    const own: string[] = [];
    for (const path of paths) if (await this.#isInPlace(path, id)) own.push(path);
    const [first, second] = own;
    if (first === undefined || second !== undefined) throw duplicate(id, second ?? paths[1] ?? basename(id));
    return first;
  }

  async #isInPlace(path: string, id: string): Promise<boolean> {
    try {
      await this.header(path, id);
      return true;
    } catch (error) {
      if (error instanceof StoreError && error.code.startsWith("event-log-")) return false;
      throw error;
    }
  }
}
