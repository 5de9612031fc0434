import { type FileSystem } from "../platform/fs";
import { type Encoding } from "./encode";
import { type LeaseOptions } from "./lease";
import { type Publication } from "./publication";
import { type LogRead } from "./read-log";

/** What a session needs of its backend. */
export interface SessionLogContext {
  readonly root: string;
  readonly encoding: Encoding;
  readonly fs: FileSystem;
  readonly publication: Publication;
  readonly lease: LeaseOptions;
  readonly extraTypes: ReadonlySet<string> | undefined;
  /** The path of the stored log of an id, or undefined; throws for duplicates and foreign layouts. */
  find(id: string, cwd: string | undefined): Promise<string | undefined>;
  /** The log that keeps an id from being created in a project, or undefined; throws like `find`. */
  findTaken(id: string, cwd: string | undefined): Promise<string | undefined>;
  /** Reads, validates and freezes a stored log. */
  read(path: string, id: string): Promise<LogRead>;
  /** Throws when the root belongs to the other encoding. */
  assertRootEncoding(): Promise<void>;
}
