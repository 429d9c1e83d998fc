/* SPDX-License-Identifier: GPL-2.0 */
/*
 * watchdog LOADER...: runs the loader and has the kernel drop its scheduler when something is wrong with either.
 *
 * It stands outside of what it watches: it runs in a real-time class, which no sched_ext scheduler gets to decide about,
 * and it unloads by SysRq, for which it needs nobody. A loader dies with it, and the kernel unloads what a dead loader
 * had attached. What it saw is a line each in EVENTS.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define EVENTS "/run/sched/events"
#define STATE "/sys/kernel/sched_ext/state"
#define BEAT 3 /* the loader's end of the pipe */

static const double missed_after = 2.0, stalled_after = 2.5, lease = 900.0;

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static void real_time(int priority)
{
	struct sched_param how = {.sched_priority = priority};
	sched_setscheduler(0, priority ? SCHED_FIFO : SCHED_OTHER, &how);
}

static int enabled(void)
{
	char text[32] = "";
	int file = open(STATE, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return 0;
	ssize_t size = read(file, text, sizeof text - 1);
	close(file);
	return size > 0 && strncmp(text, "disabled", 8) != 0;
}

static void tell(const char *what)
{
	int file = open(EVENTS, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	if (file < 0)
		return;
	dprintf(file, "%.3f %s\n", now(), what);
	close(file);
}

static void unload(void)
{
	int file = open("/proc/sysrq-trigger", O_WRONLY | O_CLOEXEC);
	if (file < 0)
		return;
	if (write(file, "S", 1) != 1)
		tell("sysrq is refused");
	close(file);
}

/* An ordinary task that only has to get its turn: where it does not, nobody else may either. */
static volatile uint32_t *canary(void)
{
	volatile uint32_t *turns = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (turns == MAP_FAILED)
		exit(1);
	if (fork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NAME, "canary");
		real_time(0);
		for (;; usleep(50000))
			(*turns)++;
	}
	return turns;
}

static pid_t start(char **loader, int *beats)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC))
		exit(1);
	pid_t pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		real_time(50);
		dup2(ends[1], BEAT);
		fcntl(BEAT, F_SETFD, 0);
		execv(loader[0], loader);
		_exit(127);
	}
	close(ends[1]);
	*beats = ends[0];
	return pid;
}

int main(int count, char **arguments)
{
	if (count < 2)
		return 1;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	real_time(60);
	volatile uint32_t *turns = canary();
	for (;;) {
		int beats;
		pid_t loader = start(arguments + 1, &beats);
		double beat = now() + 60, turned = now(), since = 0; /* it takes a while to begin */
		uint32_t seen = *turns;
		for (;;) {
			struct pollfd watched = {.fd = beats, .events = POLLIN};
			char said[256];
			if (poll(&watched, 1, 100) > 0 && (watched.revents & POLLIN) && read(beats, said, sizeof said) > 0)
				beat = now();
			double moment = now();
			int on = enabled();
			if (*turns != seen)
				seen = *turns, turned = moment;
			if (!on)
				turned = moment, since = moment;
			const char *wrong = NULL;
			if (waitpid(loader, NULL, WNOHANG) == loader) {
				loader = 0;
				wrong = "the loader died";
			} else if (moment - beat > missed_after)
				wrong = "the loader missed its heartbeats";
			else if (moment - turned > stalled_after)
				wrong = "the scheduler stalled";
			else if (moment - since > lease)
				wrong = "the scheduler was loaded for too long";
			if (!wrong)
				continue;
			if (on)
				unload();
			tell(wrong);
			if (loader) {
				kill(loader, SIGKILL);
				waitpid(loader, NULL, 0);
			}
			break;
		}
		close(beats);
	}
}
