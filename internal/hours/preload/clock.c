// A library for LD_PRELOAD that adds CLOCK_OFFSET, a number of seconds, to the wall clock of
// a program in C. libfaketime is not used: in a signal handler that interrupts a wait it
// gives the time of the machine, and PostgreSQL decides there whether a timeout has passed.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long offset;

__attribute__((constructor)) static void read_offset(void) {
	const char *text = getenv("CLOCK_OFFSET");
	if (text != NULL)
		offset = atol(text);
}

static int is_wall(clockid_t clock) {
	return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
}

int clock_gettime(clockid_t clock, struct timespec *t) {
	int result = syscall(SYS_clock_gettime, clock, t);
	if (result == 0 && is_wall(clock))
		t->tv_sec += offset;
	return result;
}

int gettimeofday(struct timeval *restrict t, void *restrict zone) {
	struct timespec now;
	(void)zone;
	clock_gettime(CLOCK_REALTIME, &now);
	t->tv_sec = now.tv_sec;
	t->tv_usec = now.tv_nsec / 1000;
	return 0;
}

time_t time(time_t *t) {
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	if (t != NULL)
		*t = now.tv_sec;
	return now.tv_sec;
}

// machine_time turns a time to wait for into that of the machine. A time of the monotonic
// clock, which counts from the start of the machine, is far smaller and stays as it is.
static struct timespec machine_time(const struct timespec *t) {
	struct timespec result = *t;
	if (t->tv_sec > 1000000000)
		result.tv_sec -= offset;
	return result;
}

// newest finds the function that this library hides. glibc for amd64 has two of
// pthread_cond_timedwait, and dlsym finds the old one.
static void *newest(const char *name) {
	void *found = dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2");
	return found != NULL ? found : dlsym(RTLD_NEXT, name);
}

int pthread_cond_timedwait(pthread_cond_t *restrict c, pthread_mutex_t *restrict m, const struct timespec *restrict until) {
	static int (*real)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
	if (real == NULL)
		real = newest("pthread_cond_timedwait");
	struct timespec t = machine_time(until);
	return real(c, m, &t);
}

int pthread_cond_clockwait(pthread_cond_t *restrict c, pthread_mutex_t *restrict m, clockid_t clock, const struct timespec *restrict until) {
	static int (*real)(pthread_cond_t *, pthread_mutex_t *, clockid_t, const struct timespec *);
	if (real == NULL)
		real = newest("pthread_cond_clockwait");
	struct timespec t = machine_time(until);
	return real(c, m, clock, &t);
}

int pthread_mutex_timedlock(pthread_mutex_t *restrict m, const struct timespec *restrict until) {
	static int (*real)(pthread_mutex_t *, const struct timespec *);
	if (real == NULL)
		real = newest("pthread_mutex_timedlock");
	struct timespec t = machine_time(until);
	return real(m, &t);
}

int sem_timedwait(sem_t *restrict s, const struct timespec *restrict until) {
	static int (*real)(sem_t *, const struct timespec *);
	if (real == NULL)
		real = newest("sem_timedwait");
	struct timespec t = machine_time(until);
	return real(s, &t);
}
