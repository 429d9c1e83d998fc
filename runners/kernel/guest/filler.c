/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filler: an idle-class task that keeps a virtual processor from sleeping.
 *
 * A machine whose time is counted in instructions has exact time as long as it computes. When it sleeps, its clock
 * follows that of the machine around it, and whatever that one is busy with looks like latency.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>

int main(void)
{
	struct sched_param usual = {0};
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (sched_setscheduler(0, SCHED_IDLE, &usual))
		return 1;
	for (unsigned x = 0;; sched_yield())
		/* Short: whoever woke up meanwhile need not wait for the next tick. */
		for (int i = 0; i < 500; i++)
			__asm__ volatile("add $1, %0; add $1, %0; add $1, %0; add $1, %0; add $1, %0; add $1, %0" : "+r"(x));
}
