/* SPDX-License-Identifier: GPL-2.0 */
/*
 * tiers: a scheduler for control groups, steered while it runs.
 *
 * Two profiles. `priority`: tasks of groups in the first tier run before all others, at once. `weighted`: the groups
 * share the processors by weight, whatever the number of their tasks. Kernel threads come first in both.
 *
 * User space writes a request into the slot of its generation and then the generation into `current`. Whoever is
 * scheduled next copies what it acted by into `ack`: only that is an acknowledgement.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

char _license[] SEC("license") = "GPL";

#define PF_KTHREAD 0x00200000
#define FIRST 1
#define REST 2
#define SHARED 4
#define NOWHERE 3 /* nothing is ever taken from it: for tests of the watchdogs */
#define PRIORITY 1
#define WEIGHTED 2
#define USUAL 100
#ifndef TIMEOUT_MS
#define TIMEOUT_MS 5000
#endif

struct tiers_request {
	__u64 id, generation;
	__u32 profile, stall;
	__u64 slice_ns;
};
struct tiers_group {
	__u32 tier, weight;
	__u64 generation;
};
struct tiers_acknowledged {
	__u64 id, generation;
	__u32 profile, pad;
	__u64 decisions, at_ns;
};
struct tiers_ended {
	__s32 kind, pad;
	__s64 code;
	char reason[64], message[128];
};

#define ARRAY(called, of, entries)                                                                                     \
	struct {                                                                                                       \
		__uint(type, BPF_MAP_TYPE_ARRAY);                                                                      \
		__uint(max_entries, entries);                                                                          \
		__type(key, __u32);                                                                                    \
		__type(value, of);                                                                                     \
	} called SEC(".maps")
#define HASH(called, of, entries)                                                                                      \
	struct {                                                                                                       \
		__uint(type, BPF_MAP_TYPE_HASH);                                                                       \
		__uint(max_entries, entries);                                                                          \
		__type(key, __u64);                                                                                    \
		__type(value, of);                                                                                     \
	} called SEC(".maps")

ARRAY(requests, struct tiers_request, 2);
ARRAY(current, __u64, 1);
HASH(groups, struct tiers_group, 256);
HASH(clocks, __u64, 1024); /* virtual time of each group, by its id; 0 is everybody who is not named */
ARRAY(ack, struct tiers_acknowledged, 1);
ARRAY(ended, struct tiers_ended, 1);
ARRAY(lesser, __u32, 256); /* 1: this processor runs a task that may be sent away */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, __u64);
} begun SEC(".maps"); /* what a task had computed when its turn began */

static __u64 now_v; /* the virtual time of whoever began to run last */

static __always_inline struct tiers_request *requested(void)
{
	__u32 zero = 0;
	__u64 *generation = bpf_map_lookup_elem(&current, &zero);
	if (!generation)
		return NULL;
	__u32 slot = *generation & 1;
	return bpf_map_lookup_elem(&requests, &slot);
}

static __always_inline __u64 group_of(struct task_struct *p)
{
	return p->cgroups->dfl_cgrp->kn->id;
}

static __always_inline bool is_first(struct task_struct *p, struct tiers_request *now)
{
	if (p->flags & PF_KTHREAD)
		return true;
	if (now->profile != PRIORITY)
		return false;
	__u64 id = group_of(p);
	struct tiers_group *group = bpf_map_lookup_elem(&groups, &id);
	return group && group->generation == now->generation && group->tier == 1;
}

/* The group's own clock and weight; those that the request does not name share one of each. */
static __always_inline __u64 *clock_of(struct task_struct *p, struct tiers_request *now, __u32 *weight)
{
	__u64 id = group_of(p), none = 0;
	struct tiers_group *group = bpf_map_lookup_elem(&groups, &id);
	bool named = group && group->generation == now->generation;
	__u64 key = named ? id : 0;
	*weight = named && group->weight ? group->weight : USUAL;
	__u64 *clock = bpf_map_lookup_elem(&clocks, &key);
	if (clock)
		return clock;
	bpf_map_update_elem(&clocks, &key, &none, BPF_NOEXIST);
	return bpf_map_lookup_elem(&clocks, &key);
}

static __always_inline __u64 slice_of(struct tiers_request *now)
{
	return now->slice_ns ? now->slice_ns : SCX_SLICE_DFL;
}

static __always_inline void acknowledge(struct tiers_request *now)
{
	__u32 zero = 0;
	struct tiers_acknowledged *said = bpf_map_lookup_elem(&ack, &zero);
	if (!said)
		return;
#ifdef STALE_ECHO /* only in objects made for tests, as below: it says for ever what it said first */
	if (said->generation)
		return;
#endif
	if (said->generation != now->generation)
		said->decisions = 0;
	said->id = now->id;
#ifdef WRONG_ECHO
	said->generation = now->generation + 1;
#else
	said->generation = now->generation;
#endif
	said->profile = now->profile;
	said->at_ns = bpf_ktime_get_ns();
	__sync_fetch_and_add(&said->decisions, 1);
}

SEC("struct_ops/tiers_select_cpu")
s32 BPF_PROG(tiers_select_cpu, struct task_struct *p, s32 previous, u64 flags)
{
	bool idle = false;
	s32 cpu = scx_bpf_select_cpu_dfl(p, previous, flags, &idle);
	struct tiers_request *now = requested();
	if (idle && now && !now->stall) {
		acknowledge(now);
		scx_bpf_dsq_insert(p, SCX_DSQ_LOCAL, slice_of(now), 0);
	}
	return cpu;
}

SEC("struct_ops/tiers_enqueue")
void BPF_PROG(tiers_enqueue, struct task_struct *p, u64 flags)
{
	struct tiers_request *now = requested();
	if (!now) {
		scx_bpf_dsq_insert(p, SCX_DSQ_GLOBAL, SCX_SLICE_DFL, flags);
		return;
	}
	acknowledge(now);
	__u32 cpu = scx_bpf_task_cpu(p), weight;
	if (is_first(p, now)) {
		__u32 *low = bpf_map_lookup_elem(&lesser, &cpu);
		if (low && *low)
			scx_bpf_dsq_insert(p, SCX_DSQ_LOCAL, SCX_SLICE_DFL, flags | SCX_ENQ_PREEMPT);
		else
			scx_bpf_dsq_insert(p, FIRST, SCX_SLICE_DFL, flags);
		return;
	}
	if (now->stall) {
		scx_bpf_dsq_insert(p, NOWHERE, slice_of(now), flags);
		return;
	}
	if (now->profile != WEIGHTED) {
		scx_bpf_dsq_insert(p, REST, slice_of(now), flags);
		return;
	}
	__u64 *clock = clock_of(p, now, &weight), slice = slice_of(now);
	if (!clock) {
		scx_bpf_dsq_insert(p, SCX_DSQ_GLOBAL, slice, flags);
		return;
	}
	/* Who slept does not save up more than one slice. */
	if ((__s64)(*clock - (now_v - slice)) < 0)
		*clock = now_v - slice;
	scx_bpf_dsq_insert_vtime(p, SHARED, slice, *clock, flags);
}

SEC("struct_ops/tiers_dispatch")
void BPF_PROG(tiers_dispatch, s32 cpu, struct task_struct *previous)
{
	struct tiers_request *now = requested();
	if (scx_bpf_dsq_move_to_local(FIRST))
		return;
	/* A first task whose slice ran out is not queued yet: without more time a lesser one would come before it. */
	if (now && previous && (previous->scx.flags & SCX_TASK_QUEUED) && is_first(previous, now)) {
		previous->scx.slice = SCX_SLICE_DFL;
		return;
	}
	if (!scx_bpf_dsq_move_to_local(REST))
		scx_bpf_dsq_move_to_local(SHARED);
}

SEC("struct_ops/tiers_running")
void BPF_PROG(tiers_running, struct task_struct *p)
{
	struct tiers_request *now = requested();
	if (!now)
		return;
	__u32 cpu = scx_bpf_task_cpu(p), low = !is_first(p, now);
	bpf_map_update_elem(&lesser, &cpu, &low, 0);
	if (low && now->profile == WEIGHTED && (__s64)(p->scx.dsq_vtime - now_v) > 0)
		now_v = p->scx.dsq_vtime;
	__u64 *before = bpf_task_storage_get(&begun, p, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (before)
		*before = p->se.sum_exec_runtime;
}

SEC("struct_ops/tiers_stopping")
void BPF_PROG(tiers_stopping, struct task_struct *p, bool runnable)
{
	struct tiers_request *now = requested();
	__u32 weight;
	if (!now || now->profile != WEIGHTED || is_first(p, now))
		return;
	__u64 *clock = clock_of(p, now, &weight), *before = bpf_task_storage_get(&begun, p, 0, 0);
	if (!clock || !before)
		return;
	__sync_fetch_and_add(clock, (p->se.sum_exec_runtime - *before) * USUAL / weight);
	*before = p->se.sum_exec_runtime;
}

SEC("struct_ops.s/tiers_init")
s32 BPF_PROG(tiers_init)
{
	s32 failed = scx_bpf_create_dsq(FIRST, -1);
	if (!failed)
		failed = scx_bpf_create_dsq(REST, -1);
	if (!failed)
		failed = scx_bpf_create_dsq(SHARED, -1);
	if (!failed)
		failed = scx_bpf_create_dsq(NOWHERE, -1);
	return failed;
}

SEC("struct_ops/tiers_exit")
void BPF_PROG(tiers_exit, struct scx_exit_info *info)
{
	__u32 zero = 0;
	struct tiers_ended *record = bpf_map_lookup_elem(&ended, &zero);
	if (!record)
		return;
	record->kind = info->kind;
	record->code = info->exit_code;
	bpf_probe_read_kernel_str(record->reason, sizeof(record->reason), info->reason);
	bpf_probe_read_kernel_str(record->message, sizeof(record->message), info->msg);
}

SEC(".struct_ops.link")
struct sched_ext_ops tiers_ops = {
	.select_cpu = (void *)tiers_select_cpu,
	.enqueue = (void *)tiers_enqueue,
	.dispatch = (void *)tiers_dispatch,
	.running = (void *)tiers_running,
	.stopping = (void *)tiers_stopping,
	.init = (void *)tiers_init,
	.exit = (void *)tiers_exit,
	.timeout_ms = TIMEOUT_MS,
	.name = "tiers",
};
