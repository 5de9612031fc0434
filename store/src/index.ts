/** The public interface of `@persyk/store`. */
export { type Clock, isoTime, systemClock } from "./clock";
export {
  type ErrorDocument,
  type ErrorPlace,
  StoreError,
  type StoreErrorCode,
  isStoreError,
  toErrorDocument,
} from "./errors";
export { parseEntry, parseHeader, type Malformed, type Parsed } from "./format/codec";
export { isId } from "./format/ids";
export type {
  ApiConnectionEntry,
  AssetReference,
  AssistantMessage,
  AudioBlock,
  AvailableAsset,
  Block,
  CustomEntry,
  CustomMessageEntry,
  Entry,
  EntryInput,
  EntryType,
  Gap,
  ImageBlock,
  JsonObject,
  JsonValue,
  KnownBlock,
  LabelEntry,
  MediaReference,
  Message,
  MessageEntry,
  MessageRemovedEntry,
  MissingAsset,
  ModelChangeEntry,
  RealtimeEventEntry,
  RecordingFinishedEntry,
  RecordingInterruptedEntry,
  RecordingStartedEntry,
  SessionHeader,
  SessionInfoEntry,
  TextBlock,
  ThinkingBlock,
  ToolCallBlock,
  ToolResultMessage,
  UnknownBlock,
  Usage,
  UserMessage,
} from "./format/schema";
export { isAudioBlock, isKnownBlock, isTextBlock } from "./format/schema";
export type { Diagnostic, Recoverable, Verdict } from "./log/verdict";
export type { ContextMessage } from "./session/context";
export type { Continuation } from "./session/continuation";
export type { SessionInfo } from "./session/info";
export type { Page, PageOptions } from "./session/pages";
export type { RawCursor, RawPage, RawPageOptions, RawRecord } from "./session/raw-records";
export type { RecordingSummary } from "./session/recordings";
export { type HistoryItem, openSession, type OpenSessionOptions, Session } from "./session/session";
export { textOf } from "./session/text";
export { type ExportFormat, type ExportOptions, exportFormats, exportSession } from "./library/export/export";
export type { LastTranscript } from "./library/last";
export { Library, type LibraryOptions } from "./library/library";
export type { LibraryRoots, RootSetting } from "./library/roots";
export {
  gapsOf,
  placeOf,
  type PlacedRecording,
  plainText,
  readTranscript,
  speakerOf,
  type Transcript,
  transcriptText,
  type Turn,
  type TurnRange,
  type TurnRole,
} from "./library/transcript";
export type { LibraryDiagnostic, ListPage, SearchHit, SearchPage, SessionSummary, TextRange } from "./library/types";
export type { RecoverReport, RecordingRecovery } from "./session/recover";
export { type StoreContext, defaultStoreContext } from "./session/store-context";
export type { ChatMessage } from "./session/targets/chat";
export type { Converted, Omission, OmissionReason } from "./session/targets/conversion";
export type { RealtimeItem } from "./session/targets/openai-realtime";
export { type ContextTarget, contextTargets, isContextTarget } from "./session/targets/targets";
export type { AssetFile } from "./assets/create-asset";
export type { AssetReader } from "./assets/open-asset";
export { inspectWav, recoverWav, type WavContent, type WavOptions, type WavReport } from "./assets/wav";
export { CAPTURE_DATA_OFFSET, CAPTURE_SAMPLE_RATE, type WavFormat, wavHeader } from "./assets/wav-format";
export type { WavRejection } from "./assets/wav-scan";
export {
  type CaptureLock,
  type HeldCaptureLock,
  HelperCaptureLock,
  lockDescriptor,
  systemCaptureLock,
} from "./lock/capture-lock";
export {
  LayeredLock,
  type LayeredLockOptions,
  type LockGuard,
  type LockWait,
  type SessionLock,
} from "./lock/session-lock";
export type { LockTarget } from "./lock/lock-target";
export { type FileSystem, nodeFileSystem, type OpenFile, type OpenMode } from "./platform/fs";
export { createSession, type CreateSessionOptions } from "./session/create";
export { deleteSession, type DeleteReport, finishDeletions } from "./session/delete";

export { EventLogBackend } from "./event-log/backend";
export { type LookupOptions, type RawLog, type ReadCallOptions } from "./event-log/log-reader";
export type { LogRecovery } from "./event-log/recovery-report";
export { type EventLogOptions } from "./event-log/options";
export { type LiveWriter } from "./event-log/live-writer";
export { type Listing as EventLogListing, type LogEntry, type LogProblem } from "./event-log/discovery";
export { type FollowOptions } from "./event-log/follow";
export { type LogExportFormat } from "./event-log/export-log";
export {
  type Compression,
  type EventLogHeader,
  type EventLogMeta,
  type LogEvent,
  type LogView,
  type LogWarning,
} from "./event-log/types";
export {
  type AgentMessage,
  type AgentSearchResult,
  type AgentSession,
  type AgentSessionHit,
  type AgentSessionList,
  listAgentSessions,
  readAgentSession,
  searchAgentSessions,
} from "./event-log/agent-sessions";
export type { CaptureStopReason } from "./realtime/actions";
export type { TransportEvent } from "./realtime/engine";
export { RealtimeRecorder } from "./realtime/recorder";
export type {
  ProvisionalText,
  RecorderClock,
  RecorderConnection,
  RecorderOptions,
  RecorderSession,
  RecorderSnapshot,
  RecordingOutcome,
  RemovalResult,
  SavedTurn,
  SendObservation,
} from "./realtime/recorder-types";
export { plainEndpoint, redactText } from "./realtime/secrets";
export { reportUnfinished, resumeRemovals, type UnfinishedReport } from "./realtime/unfinished";
