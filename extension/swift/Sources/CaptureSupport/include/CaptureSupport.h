#ifndef CAPTURE_SUPPORT_H
#define CAPTURE_SUPPORT_H

#include <stdbool.h>
#include <stdint.h>

// --- The ring between the audio thread and the writer ---------------------------------------------------------------
//
// One producer, one consumer. Everything is allocated and touched at creation; `write` and `read` neither lock, nor
// allocate, nor call the system, so `write` may be called from a real-time audio callback.

typedef struct capture_ring capture_ring;

/// A ring of `capacity_frames` frames of `channels` interleaved samples, in at most `capacity_blocks` blocks.
/// NULL when memory is short or an argument is 0.
capture_ring *capture_ring_create(uint32_t channels, uint32_t capacity_frames, uint32_t capacity_blocks);
void capture_ring_destroy(capture_ring *ring);

/// Producer: stores one block whole, or, when there is no room, drops it whole and counts its frames. False = dropped.
bool capture_ring_write(capture_ring *ring, const float *interleaved, uint32_t frames);
/// Producer: counts frames that were lost before they reached the ring.
void capture_ring_count_dropped(capture_ring *ring, uint32_t frames);
/// Producer: frames a block may have now; 0 when the block table is full.
uint32_t capture_ring_room(const capture_ring *ring);

/// Consumer: copies at most `max_frames` frames of one block and returns how many; 0 = empty. `dropped_before` gets the
/// number of frames lost between the frames returned before and these.
uint32_t capture_ring_read(capture_ring *ring, float *into, uint32_t max_frames, uint64_t *dropped_before);
/// Consumer, once the producer is silent: frames dropped after the last block.
uint64_t capture_ring_dropped_tail(capture_ring *ring);

// --- System calls whose names differ between systems ------------------------------------------------------------------

/// flock, exclusive and non-blocking. 0, or an errno (EWOULDBLOCK: someone else has it).
int capture_lock(int descriptor);

typedef enum { CAPTURE_SYNC_BARRIER, CAPTURE_SYNC_FULL } capture_sync_mode;
/// Barrier: data reach the disk before anything written later. Full: data are on the platter. 0, or an errno.
int capture_sync(int descriptor, capture_sync_mode mode);

/// Returns when the parent is another process than `parent` (it has ended). Blocks its thread.
void capture_wait_for_parent_exit(int parent);

/// Milliseconds of a clock that is monotonic and runs through sleep.
int64_t capture_monotonic_ms(void);

#endif
