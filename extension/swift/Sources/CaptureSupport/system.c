#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include "CaptureSupport.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#if defined(__APPLE__)
#include <sys/event.h>
#elif defined(__linux__)
#include <sys/syscall.h>
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#endif

int capture_lock(int descriptor) {
  while (flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EINTR) return errno;
  }
  return 0;
}

int capture_sync(int descriptor, capture_sync_mode mode) {
#if defined(__APPLE__)
  // Plain fsync leaves the data in the drive's cache. File systems without these commands (network, FAT) get fsync.
  int command = F_FULLFSYNC;
#ifdef F_BARRIERFSYNC
  if (mode == CAPTURE_SYNC_BARRIER) command = F_BARRIERFSYNC;
#endif
  if (fcntl(descriptor, command) == 0) return 0;
  if (errno == EIO || errno == ENOSPC) return errno;
  while (fsync(descriptor) != 0) {
    if (errno != EINTR) return errno;
  }
  return 0;
#else
  while ((mode == CAPTURE_SYNC_FULL ? fsync(descriptor) : fdatasync(descriptor)) != 0) {
    if (errno != EINTR) return errno;
  }
  return 0;
#endif
}

static void sleep_ms(long milliseconds) {
  struct timespec pause = {milliseconds / 1000, (milliseconds % 1000) * 1000000};
  nanosleep(&pause, NULL);
}

void capture_wait_for_parent_exit(int parent) {
#if defined(__APPLE__)
  int queue = kqueue();
  if (queue >= 0) {
    struct kevent change, event;
    EV_SET(&change, (uintptr_t)parent, EVFILT_PROC, EV_ADD | EV_ENABLE | EV_ONESHOT, NOTE_EXIT, 0, NULL);
    bool registered = kevent(queue, &change, 1, NULL, 0, NULL) == 0;
    // The parent may have ended just before: look again after registering.
    if (registered && getppid() == parent) {
      while (kevent(queue, NULL, 0, &event, 1, NULL) < 0 && errno == EINTR) {
      }
    }
    close(queue);
  }
#elif defined(__linux__)
  int watch = (int)syscall(SYS_pidfd_open, parent, 0);
  if (watch >= 0) {
    struct pollfd entry = {watch, POLLIN, 0};
    if (getppid() == parent) {
      while (poll(&entry, 1, -1) < 0 && errno == EINTR) {
      }
    }
    close(watch);
  }
#endif
  // Between the exit and the new parent there is a moment; and where no event exists, this is the watch itself.
  while (getppid() == parent) sleep_ms(50);
}

int64_t capture_monotonic_ms(void) {
  struct timespec now;
#if defined(__linux__)
  clock_gettime(CLOCK_BOOTTIME, &now);
#else
  clock_gettime(CLOCK_MONOTONIC, &now);  // on macOS this clock goes on while the system sleeps
#endif
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}
