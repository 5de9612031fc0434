#include "CaptureSupport.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  uint32_t frames;
  uint64_t dropped_before;
} block;

struct capture_ring {
  float *samples;
  block *blocks;
  uint32_t channels;
  uint64_t capacity_frames;
  uint64_t capacity_blocks;
  // Counters only grow; positions are taken modulo the capacity. Each has one writer.
  _Alignas(64) _Atomic uint64_t frames_written;  // producer
  _Atomic uint64_t blocks_written;               // producer
  _Alignas(64) _Atomic uint64_t frames_read;     // consumer
  _Atomic uint64_t blocks_read;                  // consumer
  _Alignas(64) _Atomic uint64_t dropped;         // producer; frames lost since the last stored block
  uint32_t read_of_block;                        // consumer's own: frames of the current block already returned
};

capture_ring *capture_ring_create(uint32_t channels, uint32_t capacity_frames, uint32_t capacity_blocks) {
  if (channels == 0 || capacity_frames == 0 || capacity_blocks == 0) return NULL;
  capture_ring *ring = NULL;
  if (posix_memalign((void **)&ring, 64, sizeof *ring) != 0) return NULL;
  memset(ring, 0, sizeof *ring);
  ring->channels = channels;
  ring->capacity_frames = capacity_frames;
  ring->capacity_blocks = capacity_blocks;
  ring->samples = malloc((size_t)capacity_frames * channels * sizeof(float));
  ring->blocks = malloc((size_t)capacity_blocks * sizeof(block));
  if (ring->samples == NULL || ring->blocks == NULL) {
    capture_ring_destroy(ring);
    return NULL;
  }
  // Touched now, so that the audio thread meets no page fault.
  memset(ring->samples, 0, (size_t)capacity_frames * channels * sizeof(float));
  memset(ring->blocks, 0, (size_t)capacity_blocks * sizeof(block));
  return ring;
}

void capture_ring_destroy(capture_ring *ring) {
  if (ring == NULL) return;
  free(ring->samples);
  free(ring->blocks);
  free(ring);
}

uint32_t capture_ring_room(const capture_ring *ring) {
  uint64_t blocks = atomic_load_explicit(&ring->blocks_written, memory_order_relaxed) -
                    atomic_load_explicit(&ring->blocks_read, memory_order_acquire);
  if (blocks >= ring->capacity_blocks) return 0;
  uint64_t used = atomic_load_explicit(&ring->frames_written, memory_order_relaxed) -
                  atomic_load_explicit(&ring->frames_read, memory_order_acquire);
  return (uint32_t)(ring->capacity_frames - used);
}

void capture_ring_count_dropped(capture_ring *ring, uint32_t frames) {
  uint64_t dropped = atomic_load_explicit(&ring->dropped, memory_order_relaxed);
  atomic_store_explicit(&ring->dropped, dropped + frames, memory_order_release);
}

bool capture_ring_write(capture_ring *ring, const float *interleaved, uint32_t frames) {
  if (frames == 0) return true;
  if (frames > capture_ring_room(ring)) {
    capture_ring_count_dropped(ring, frames);
    return false;
  }
  uint64_t start = atomic_load_explicit(&ring->frames_written, memory_order_relaxed);
  uint64_t at = start % ring->capacity_frames;
  uint64_t first = ring->capacity_frames - at < frames ? ring->capacity_frames - at : frames;
  memcpy(ring->samples + at * ring->channels, interleaved, first * ring->channels * sizeof(float));
  memcpy(ring->samples, interleaved + first * ring->channels, (frames - first) * ring->channels * sizeof(float));
  uint64_t number = atomic_load_explicit(&ring->blocks_written, memory_order_relaxed);
  block *entry = &ring->blocks[number % ring->capacity_blocks];
  entry->frames = frames;
  entry->dropped_before = atomic_load_explicit(&ring->dropped, memory_order_relaxed);
  atomic_store_explicit(&ring->dropped, 0, memory_order_relaxed);
  atomic_store_explicit(&ring->frames_written, start + frames, memory_order_relaxed);
  atomic_store_explicit(&ring->blocks_written, number + 1, memory_order_release);  // publishes all of the above
  return true;
}

uint32_t capture_ring_read(capture_ring *ring, float *into, uint32_t max_frames, uint64_t *dropped_before) {
  *dropped_before = 0;
  uint64_t number = atomic_load_explicit(&ring->blocks_read, memory_order_relaxed);
  if (number == atomic_load_explicit(&ring->blocks_written, memory_order_acquire)) return 0;
  const block *entry = &ring->blocks[number % ring->capacity_blocks];
  if (ring->read_of_block == 0) *dropped_before = entry->dropped_before;
  uint32_t left = entry->frames - ring->read_of_block;
  uint32_t frames = left < max_frames ? left : max_frames;
  uint64_t start = atomic_load_explicit(&ring->frames_read, memory_order_relaxed);
  uint64_t at = start % ring->capacity_frames;
  uint64_t first = ring->capacity_frames - at < frames ? ring->capacity_frames - at : frames;
  memcpy(into, ring->samples + at * ring->channels, first * ring->channels * sizeof(float));
  memcpy(into + first * ring->channels, ring->samples, (frames - first) * ring->channels * sizeof(float));
  ring->read_of_block += frames;
  bool whole = ring->read_of_block == entry->frames;
  if (whole) ring->read_of_block = 0;
  atomic_store_explicit(&ring->frames_read, start + frames, memory_order_release);
  if (whole) atomic_store_explicit(&ring->blocks_read, number + 1, memory_order_release);
  return frames;
}

uint64_t capture_ring_dropped_tail(capture_ring *ring) {
  return atomic_exchange_explicit(&ring->dropped, 0, memory_order_acq_rel);
}
