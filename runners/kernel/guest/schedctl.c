/* SPDX-License-Identifier: Apache-2.0 */
/* schedctl: turns words into one typed request to the loader, and says what came back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static const char usage[] =
	"schedctl priority --first GROUP... [--slice-us N] [--generation N]   these groups run before all others\n"
	"schedctl weighted GROUP=WEIGHT... [--slice-us N] [--generation N]    groups share the processors by weight\n"
	"schedctl unload                                                      back to the kernel's own scheduler\n"
	"schedctl status\n"
	"schedctl latency|shares|switches [--ms N]    of each group, counted for N milliseconds (1000; from 10 to 2000): how\n"
	"                                             long tasks waited to run, how much of a processor they had, why they\n"
	"                                             stopped running\n"
	"\n"
	"GROUP is a control group's path below /sys/fs/cgroup. Exits 0 only if the running scheduler itself has said that\n"
	"it acts by exactly this request.\n";

static char out[8192], first[4096], weights[4096];

static void die(const char *what, const char *word)
{
	fprintf(stderr, "schedctl: %s%s\n", what, word);
	exit(1);
}

static void add(char *list, size_t size, const char *format, const char *name, const char *value)
{
	size_t used = strlen(list);
	if (strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-/") != strlen(name) || !*name)
		die("no group is called ", name);
	if (used)
		used += snprintf(list + used, size - used, ", ");
	if (used >= size || (size_t)snprintf(list + used, size - used, format, name, value) >= size - used)
		die("too much at once", "");
}

static int number(const char *text)
{
	return text && *text && strlen(text) < 19 && strspn(text, "0123456789") == strlen(text) && (*text != '0' || !text[1]);
}

static void compose(int count, char **words)
{
	char rest[256] = "";
	int naming = 0;
	for (int i = 2; i < count; i++) {
		char *equals = strrchr(words[i], '=');
		if ((!strcmp(words[i], "--slice-us") || !strcmp(words[i], "--generation")) && number(words[i + 1])) {
			const char *key = words[i][2] == 's' ? "slice_us" : "generation";
			snprintf(rest + strlen(rest), sizeof rest - strlen(rest), ", \"%s\": %s", key, words[i + 1]);
			i++;
		} else if (!strcmp(words[i], "--first")) {
			naming = 1;
		} else if (equals && number(equals + 1)) {
			*equals = 0;
			add(weights, sizeof weights, "\"%s\": %s", words[i], equals + 1);
		} else if (naming && words[i][0] != '-') {
			add(first, sizeof first, "\"%s\"", words[i], "");
		} else {
			die("what is ", words[i]);
		}
	}
	snprintf(out, sizeof out, "{\"do\": \"load\", \"profile\": \"%s\", \"first\": [%s], \"weights\": {%s}%s}\n", words[1],
		 first, weights, rest);
}

static void look(int count, char **words)
{
	if (count != 2 && (count != 4 || strcmp(words[2], "--ms") || !number(words[3])))
		die("usage: schedctl latency|shares|switches [--ms N]", "");
	snprintf(out, sizeof out, "{\"do\": \"look\", \"what\": \"%s\", \"ms\": %s}\n", words[1],
		 count == 4 ? words[3] : "1000");
}

int main(int count, char **words)
{
	const char *verb = count > 1 ? words[1] : "";
	if (count == 2 && (!strcmp(verb, "unload") || !strcmp(verb, "status")))
		snprintf(out, sizeof out, "{\"do\": \"%s\"}\n", verb);
	else if (!strcmp(verb, "priority") || !strcmp(verb, "weighted"))
		compose(count, words);
	else if (!strcmp(verb, "latency") || !strcmp(verb, "shares") || !strcmp(verb, "switches"))
		look(count, words);
	else
		return fputs(usage, stderr), 1;
	struct sockaddr_un where = {.sun_family = AF_UNIX, .sun_path = "/run/sched/control"};
	int link = socket(AF_UNIX, SOCK_STREAM, 0);
	if (link < 0 || connect(link, (struct sockaddr *)&where, sizeof where) || write(link, out, strlen(out)) < 0)
		die("nobody answers", "");
	static char reply[65536];
	size_t size = 0;
	ssize_t got;
	while (size < sizeof reply - 1 && (got = read(link, reply + size, sizeof reply - 1 - size)) > 0)
		size += got;
	if (!size)
		die("no answer", "");
	fputs(reply, stdout);
	return strstr(reply, "\"refused\"") == reply + 1 || strstr(reply, "\"failed\"") == reply + 1;
}
