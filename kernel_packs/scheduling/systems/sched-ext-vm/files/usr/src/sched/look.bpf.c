/* SPDX-License-Identifier: GPL-2.0 */
/*
 * look: what the kernel's scheduler does with the tasks of each control group, whichever scheduler it is.
 *
 * It only counts: how long tasks waited for the processor, how long they ran, and why they went. User space hooks it in
 * for a moment and reads the counts afterwards.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

char _license[] SEC("license") = "GPL";

#define SLOTS 24 /* of waiting times: slot n counts those from 2^(n-1) to 2^n - 1 microseconds, 0 those below one */

struct look_group {
	__u64 ran_ns, turns, slept, preempted, waits, waited_ns;
	__u64 slots[SLOTS];
};
struct look_task {
	__u64 group, waits_since, runs_since; /* since 0: it does not */
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 256);
	__type(key, __u64);
	__type(value, struct look_group);
} seen SEC(".maps");
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, __u64);
	__type(value, struct look_task);
} tasks SEC(".maps");
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} begin SEC(".maps"); /* the moment from which all is counted */

static const struct look_group nothing;

static __always_inline struct look_group *group_of(struct task_struct *p, __u64 *id)
{
	*id = p->cgroups->dfl_cgrp->kn->id;
	struct look_group *group = bpf_map_lookup_elem(&seen, id);
	if (group)
		return group;
	bpf_map_update_elem(&seen, id, &nothing, BPF_NOEXIST);
	return bpf_map_lookup_elem(&seen, id);
}

static __always_inline struct look_task *task_of(struct task_struct *p)
{
	struct look_task fresh = {};
	__u64 pid = p->pid;
	struct look_task *task = bpf_map_lookup_elem(&tasks, &pid);
	if (task)
		return task;
	bpf_map_update_elem(&tasks, &pid, &fresh, BPF_NOEXIST);
	return bpf_map_lookup_elem(&tasks, &pid);
}

static __always_inline __u32 slot_of(__u64 us)
{
	__u32 slot = 0;
	for (int i = 0; i < SLOTS - 1; i++) {
		if (!us)
			break;
		us >>= 1;
		slot++;
	}
	return slot;
}

static __always_inline void waits(struct task_struct *p, __u64 now)
{
	struct look_task *task = p->pid ? task_of(p) : NULL;
	if (task && !task->runs_since)
		task->waits_since = now;
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(look_wakeup, struct task_struct *p)
{
	waits(p, bpf_ktime_get_ns());
	return 0;
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(look_wakeup_new, struct task_struct *p)
{
	waits(p, bpf_ktime_get_ns());
	return 0;
}

static __always_inline void leaves(struct task_struct *p, __u64 now, bool preempted)
{
	__u64 id;
	__u32 zero = 0;
	struct look_group *group = group_of(p, &id);
	struct look_task *task = task_of(p);
	__u64 *begun = bpf_map_lookup_elem(&begin, &zero);
	if (!group || !task || !begun)
		return;
	/* Who is not known to have begun ran before anybody looked. */
	__sync_fetch_and_add(&group->ran_ns, now - (task->runs_since ? task->runs_since : *begun));
	__sync_fetch_and_add(preempted ? &group->preempted : &group->slept, 1);
	task->group = id;
	task->runs_since = 0;
	task->waits_since = preempted ? now : 0;
}

static __always_inline void comes(struct task_struct *p, __u64 now)
{
	__u64 id;
	struct look_group *group = group_of(p, &id);
	struct look_task *task = task_of(p);
	if (!group || !task)
		return;
	if (task->waits_since) {
		__u64 waited = now - task->waits_since;
		__u32 slot = slot_of(waited / 1000);
		__sync_fetch_and_add(&group->waits, 1);
		__sync_fetch_and_add(&group->waited_ns, waited);
		if (slot < SLOTS)
			__sync_fetch_and_add(&group->slots[slot], 1);
	}
	__sync_fetch_and_add(&group->turns, 1);
	task->group = id;
	task->waits_since = 0;
	task->runs_since = now;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(look_switch, bool preempt, struct task_struct *prev, struct task_struct *next, unsigned int state)
{
	__u64 now = bpf_ktime_get_ns();
	if (prev->pid)
		leaves(prev, now, preempt || !state);
	if (next->pid)
		comes(next, now);
	return 0;
}
