/* System calls on the audit log that fail, take long or do not return, as a file says: loaded into the proxy by
 * LD_PRELOAD. The file named by PGMOAT_TEST_FAULTS holds, for each call, "CALL errno N", "CALL sleep_ms N" or
 * "CALL block" (for as long as the file says so). Each fdatasync appends a byte to the same name with ".syncs", each call
 * that is blocked one to ".blocked". "fsync_new" and "fdatasync_new" are the calls on the file that is to follow. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int is_log(int fd) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length <= 0) return 0;
    path[length] = 0;
    return strstr(path, "/audit") && strstr(path, ".jsonl") && !strstr(path, ".head");
}

/* Whether it waits beside the log to take its name. */
static int is_new(int fd) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    return length > 4 && !strncmp(path + length - 4, ".new", 4);
}

/* What the file says about a call: its word and number; 0 for nothing. */
static int said(const char *call, char *word, long *number) {
    const char *name = getenv("PGMOAT_TEST_FAULTS");
    char text[512];
    int fd = name ? open(name, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0) return 0;
    ssize_t length = syscall(SYS_read, fd, text, sizeof text - 1);
    close(fd);
    if (length <= 0) return 0;
    text[length] = 0;
    for (char *rest, *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char which[32];
        *number = 0;
        if (sscanf(line, "%31s %31s %ld", which, word, number) >= 2 && !strcmp(which, call)) return 1;
    }
    return 0;
}

static void count(const char *suffix) {
    char counter[4096];
    snprintf(counter, sizeof counter, "%s%s", getenv("PGMOAT_TEST_FAULTS"), suffix);
    int fd = open(counter, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) return;
    syscall(SYS_write, fd, ".", 1);
    close(fd);
}

/* 1 if the call is to fail, with errno set. */
static int fails(const char *call, int fd) {
    char word[32];
    long number;
    int blocked = 0;
    if (!is_log(fd)) return 0;
    while (said(call, word, &number)) {
        if (!strcmp(word, "errno")) {
            errno = (int)number;
            return 1;
        }
        if (!strcmp(word, "sleep_ms")) {
            usleep((useconds_t)number * 1000);
            return 0;
        }
        if (!blocked++) count(".blocked");
        usleep(2000);
    }
    return 0;
}

ssize_t write(int fd, const void *bytes, size_t count) {
    if (fails("write", fd)) return -1;
    return syscall(SYS_write, fd, bytes, count);
}

int fdatasync(int fd) {
    if (getenv("PGMOAT_TEST_FAULTS") && is_log(fd)) count(".syncs");
    if (fails(is_new(fd) ? "fdatasync_new" : "fdatasync", fd)) return -1;
    return (int)syscall(SYS_fdatasync, fd);
}

int fsync(int fd) {
    if (fails(is_new(fd) ? "fsync_new" : "fsync", fd)) return -1;
    return (int)syscall(SYS_fsync, fd);
}

int ftruncate64(int fd, off64_t length) {
    if (fails("ftruncate", fd)) return -1;
    return (int)syscall(SYS_ftruncate, fd, length);
}
