/* SPDX-License-Identifier: GPL-2.0 */
/*
 * load: work whose doing is counted exactly.
 *
 *   load calibrate                                   iterations of the work loop per microsecond of an idle processor
 *   load start NAME GROUP USER serve EVERY_US WORK_US   a service: one request every EVERY_US, on schedule
 *   load start NAME GROUP USER burn [ON_US OFF_US]      computes, with pauses where they are given
 *   load start NAME GROUP USER spawn LIFE_US            computes in children that live so long each
 *   load stop NAME | load move NAME GROUP
 *   load show [NAME...]                              what they achieve, over the last second
 *
 * Each has an account in /run/load/NAME, which root makes and everybody may read: the process keeps it mapped and has
 * no right to open it again. A request's latency runs from when it was due to when it was done. One that is later than
 * PATIENCE is given up: its client has gone.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FOLDER "/run/load"
#define GROUPS "/sys/fs/cgroup"
#define RING 8192
#define PATIENCE 100000000ull
#define CHUNK_US 50
#define SECOND 1000000000ull

struct done {
	uint64_t at, latency;
};
struct account {
	char magic[8];
	uint32_t pid, kind; /* kind: 1 serves, 2 computes */
	uint64_t started, requests, given_up, units, unit_us;
	struct done ring[RING];
};

static volatile uint32_t sink;

static uint64_t clock_ns(clockid_t which)
{
	struct timespec t;
	clock_gettime(which, &t);
	return t.tv_sec * SECOND + t.tv_nsec;
}

static uint64_t now(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

static void work(uint64_t iterations)
{
	uint32_t x = sink;
	for (uint64_t i = 0; i < iterations; i++) {
		x = x * 31 + (uint32_t)i;
		__asm__ volatile("" : "+r"(x)); /* or the compiler does it all at once */
	}
	sink = x;
}

static void die(const char *what)
{
	fprintf(stderr, "load: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void refuse(const char *what)
{
	fprintf(stderr, "load: %s\n", what);
	exit(1);
}

static uint64_t calibrate(void)
{
	uint64_t best = 0;
	for (int i = 0; i < 5; i++) {
		uint64_t begun = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		work(2000000);
		uint64_t took = clock_ns(CLOCK_THREAD_CPUTIME_ID) - begun, rate = 2000000ull * 1000 * 1000 / (took ? took : 1);
		best = rate > best ? rate : best;
	}
	return best; /* iterations in a thousand microseconds */
}

static uint64_t rate(void)
{
	FILE *file = fopen(FOLDER "/.rate", "r");
	unsigned long long found = 0;
	if (file && fscanf(file, "%llu", &found) == 1 && found)
		return fclose(file), found;
	refuse("not calibrated");
	return 0;
}

static const char *named(const char *name)
{
	if (!*name || *name == '.' || strlen(name) > 32 || strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-_") != strlen(name))
		refuse("no such name");
	return name;
}

static void write_to(const char *path, const char *text)
{
	int file = open(path, O_WRONLY | O_CLOEXEC);
	if (file < 0 || write(file, text, strlen(text)) < 0)
		die(path);
	close(file);
}

/* Make a group with all above it, each with its processor controller; returns its path. */
static const char *group(const char *name)
{
	static char path[512];
	if (*name == '/' || strstr(name, "..") || strlen(name) > 200)
		refuse("no such group");
	snprintf(path, sizeof path, "%s", GROUPS);
	char copy[256], *rest = copy, *part;
	snprintf(copy, sizeof copy, "%s", name);
	while ((part = strsep(&rest, "/"))) {
		char control[600];
		snprintf(control, sizeof control, "%s/cgroup.subtree_control", path);
		write_to(control, "+cpu");
		snprintf(path + strlen(path), sizeof path - strlen(path), "/%s", part);
		if (mkdir(path, 0755) && errno != EEXIST)
			die(path);
	}
	return path;
}

static void enter(const char *name, pid_t pid)
{
	char file[600], text[32];
	snprintf(file, sizeof file, "%s/cgroup.procs", group(name));
	snprintf(text, sizeof text, "%d", pid);
	write_to(file, text);
}

static struct account *account(const char *name, int flags)
{
	char path[128];
	snprintf(path, sizeof path, FOLDER "/%s", named(name));
	int file = open(path, flags | O_CLOEXEC, 0644);
	if (file < 0)
		return NULL;
	if ((flags & O_CREAT) && ftruncate(file, sizeof(struct account)))
		die(path);
	struct account *found = mmap(NULL, sizeof *found, PROT_READ | (flags & O_RDWR ? PROT_WRITE : 0), MAP_SHARED, file, 0);
	close(file);
	return found == MAP_FAILED ? NULL : found;
}

static void serve(struct account *own, uint64_t every, uint64_t iterations)
{
	uint64_t due = now() + every;
	for (;;) {
		struct timespec until = {due / SECOND, due % SECOND};
		/* Who is late does not lie down first: even a moment's sleep costs a turn. */
		if (now() < due)
			clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
		uint64_t begun = now(), late = begun - due;
		if (late > PATIENCE) {
			own->given_up++;
			own->ring[own->requests % RING] = (struct done){begun, late};
		} else {
			work(iterations);
			uint64_t ended = now();
			own->ring[own->requests % RING] = (struct done){ended, ended - due};
		}
		__atomic_add_fetch(&own->requests, 1, __ATOMIC_RELEASE);
		due += every;
	}
}

static void burn(struct account *own, uint64_t iterations, uint64_t on, uint64_t off)
{
	for (;;) {
		uint64_t until = off ? clock_ns(CLOCK_THREAD_CPUTIME_ID) + on : 0;
		do {
			work(iterations);
			__atomic_add_fetch(&own->units, 1, __ATOMIC_RELAXED);
		} while (!off || clock_ns(CLOCK_THREAD_CPUTIME_ID) < until);
		struct timespec pause = {off / SECOND, off % SECOND};
		nanosleep(&pause, NULL);
	}
}

static void spawn(struct account *own, uint64_t iterations, uint64_t life)
{
	for (;;) {
		pid_t child = fork();
		if (child == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			uint64_t until = clock_ns(CLOCK_THREAD_CPUTIME_ID) + life;
			while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < until) {
				work(iterations);
				__atomic_add_fetch(&own->units, 1, __ATOMIC_RELAXED);
			}
			_exit(0);
		}
		if (child < 0)
			sleep(1);
		else
			waitpid(child, NULL, 0);
	}
}

static uint64_t number(char **arguments, int at, int count)
{
	return at < count ? strtoull(arguments[at], NULL, 10) * 1000 : 0;
}

static const struct passwd *user_named(const char *name)
{
	FILE *file = fopen("/etc/passwd", "r");
	struct passwd *user = NULL;
	while (file && (user = fgetpwent(file)) && strcmp(user->pw_name, name))
		;
	if (!user)
		refuse("no such user");
	return user;
}

static int start(int count, char **arguments)
{
	if (count < 4)
		refuse("start NAME GROUP USER serve|burn|spawn ...");
	const char *name = arguments[0], *kind = arguments[3];
	const struct passwd *user = user_named(arguments[2]);
	char line[16];
	snprintf(line, sizeof line, "%s", named(name));
	struct account *known = account(name, O_RDONLY);
	if (known && known->pid && kill(known->pid, 0) == 0)
		return 0; /* it runs already */
	uint64_t per_ms = rate(), first = number(arguments, 4, count), second = number(arguments, 5, count);
	struct account *own = account(name, O_RDWR | O_CREAT | O_TRUNC);
	int ready[2];
	if (!own || pipe2(ready, O_CLOEXEC))
		die(name);
	int serves = !strcmp(kind, "serve"), spawns = !strcmp(kind, "spawn");
	if (serves ? !first || !second : spawns ? !first : strcmp(kind, "burn"))
		refuse("serve EVERY_US WORK_US, burn [ON_US OFF_US] or spawn LIFE_US");
	memcpy(own->magic, "load0001", 8);
	own->kind = serves ? 1 : 2;
	own->unit_us = CHUNK_US;
	pid_t pid = fork();
	if (pid < 0)
		die("fork");
	if (pid == 0) {
		struct sched_param usual = {0};
		setsid();
		sched_setscheduler(0, SCHED_OTHER, &usual);
		enter(arguments[1], getpid());
		if (setgroups(0, NULL) || setgid(user->pw_gid) || setuid(user->pw_uid) || chdir("/"))
			_exit(1);
		prctl(PR_SET_DUMPABLE, 0);
		prctl(PR_SET_NAME, line);
		/* What ps shows is its name and nothing of ours. */
		for (int i = -2; i < count; i++)
			memset(arguments[i], 0, strlen(arguments[i]));
		strcpy(arguments[-2], "");
		memcpy(arguments[-2], line, strlen(line));
		int nothing = open("/dev/null", O_RDWR);
		dup2(nothing, 0), dup2(nothing, 1), dup2(nothing, 2);
		own->started = now();
		own->pid = getpid();
		if (write(ready[1], "", 1) != 1)
			_exit(1);
		uint64_t unit = per_ms * CHUNK_US / 1000;
		if (serves)
			serve(own, first, per_ms * (second / 1000) / 1000);
		else if (spawns)
			spawn(own, unit, first);
		else
			burn(own, unit, first, second);
	}
	close(ready[1]);
	char byte;
	if (read(ready[0], &byte, 1) != 1)
		refuse("it did not start");
	return 0;
}

static int stop(const char *name)
{
	struct account *known = account(name, O_RDONLY);
	if (!known)
		return 0;
	pid_t pid = known->pid;
	if (pid > 1)
		kill(-pid, SIGKILL);
	for (int i = 0; i < 200 && pid > 1 && kill(-pid, 0) == 0; i++)
		usleep(5000);
	char path[128];
	snprintf(path, sizeof path, FOLDER "/%s", name);
	return unlink(path) != 0;
}

static int by_size(const void *one, const void *other)
{
	uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;
	return a < b ? -1 : a > b;
}

static void tell(const char *name)
{
	static uint64_t latencies[RING];
	struct account *known = account(name, O_RDONLY);
	if (!known)
		return;
	char path[64], group[256] = "-";
	snprintf(path, sizeof path, "/proc/%u/cgroup", known->pid);
	FILE *file = fopen(path, "r");
	if (file) {
		if (fscanf(file, "0::/%255s", group) != 1)
			strcpy(group, "/");
		fclose(file);
	}
	if (known->kind == 2) {
		uint64_t before = known->units;
		usleep(250000);
		printf("%-12s %-24s %7u  computes at %.0f%% of a processor\n", name, group, known->pid,
		       (known->units - before) * known->unit_us / 2500.0);
		return;
	}
	uint64_t end = known->requests, since = now() - SECOND;
	size_t count = 0;
	for (uint64_t i = end; i-- > 0 && count < RING - 1 && known->ring[i % RING].at >= since;)
		latencies[count++] = known->ring[i % RING].latency;
	qsort(latencies, count, sizeof *latencies, by_size);
	if (count)
		printf("%-12s %-24s %7u  p50 %.2f ms  p95 %.2f ms  p99 %.2f ms  %zu requests/s\n", name, group, known->pid,
		       latencies[count / 2] / 1e6, latencies[count * 95 / 100] / 1e6, latencies[count * 99 / 100] / 1e6, count);
	else
		printf("%-12s %-24s %7u  answers nothing\n", name, group, known->pid);
}

int main(int count, char **arguments)
{
	const char *verb = count > 1 ? arguments[1] : "";
	if (!strcmp(verb, "calibrate"))
		return printf("%llu\n", (unsigned long long)calibrate()) < 0;
	if (!strcmp(verb, "start"))
		return start(count - 2, arguments + 2);
	if (!strcmp(verb, "stop") && count == 3)
		return stop(arguments[2]);
	if (!strcmp(verb, "move") && count == 4) {
		struct account *known = account(arguments[2], O_RDONLY);
		if (!known)
			refuse("no such load");
		return enter(arguments[3], known->pid), 0;
	}
	if (!strcmp(verb, "show")) {
		for (int i = 2; i < count; i++)
			tell(arguments[i]);
		DIR *folder = count == 2 ? opendir(FOLDER) : NULL;
		for (struct dirent *entry; folder && (entry = readdir(folder));)
			if (entry->d_name[0] != '.')
				tell(entry->d_name);
		return 0;
	}
	refuse("calibrate, start, stop, move or show");
}
